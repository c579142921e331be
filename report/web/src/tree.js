// SPDX-License-Identifier: BSD-2-Clause
// Levels of the dominator tree, opened where they stand: the rows of the page that a row
// leads to, below it. The link of the row still opens the page.
import { announce, element } from './dom.js'

// Tables of the tree begin so (report/reports/tree/tree_report.c).
const COLUMNS = ['retained', 'share', 'objects']
const DEEPEST = 20 // levels that are moved to the right

const depthOf = (row) => Number(row.getAttribute('data-depth') ?? 0)

function titlesOf(table) {
  return [...table.querySelectorAll('thead tr > *')].map((cell) => cell.textContent.trim())
}

export function isTree(table) {
  const titles = titlesOf(table)
  return COLUMNS.every((title, i) => titles[i] === title)
}

// Rows of another table of the tree, as rows of one with these columns.
function rowsFor(document, table, titles, depth) {
  const theirs = titlesOf(table)
  return [...table.querySelectorAll('tbody tr:not([data-depth])')].map((from) => {
    const row = element(document, 'tr', { 'data-depth': String(depth) })
    for (const title of titles) {
      const at = theirs.indexOf(title)
      row.append(at < 0 ? element(document, 'td') : document.importNode(from.children[at], true))
    }
    return row
  })
}

function indent(document, row, at, depth) {
  const cell = row.children[at]
  const inside = element(document, 'span', { class: `i${Math.min(depth, DEEPEST)}` })
  inside.append(...cell.childNodes)
  cell.append(inside)
}

function closeRow(row) {
  const depth = depthOf(row)
  while (row.nextElementSibling && depthOf(row.nextElementSibling) > depth) {
    row.nextElementSibling.remove()
  }
}

// Before the rows are sorted or filtered: those that were opened belong to others.
export function closeLevels(table) {
  for (const row of table.querySelectorAll('tr[data-depth]')) row.remove()
  for (const button of table.querySelectorAll('.open')) button.setAttribute('aria-expanded', 'false')
}

// loadPage: returns a promise of an element with the page of a link; null: there is none.
export function enhanceTree(root, loadPage) {
  const { ownerDocument: document } = root

  const openRow = async (table, row, link) => {
    const page = await loadPage(link.getAttribute('href'))
    const level = [...page?.querySelectorAll('table') ?? []].find(isTree)
    if (!level) throw new Error('no level')
    const titles = titlesOf(table)
    const depth = depthOf(row) + 1
    const rows = rowsFor(document, level, titles, depth)
    for (const one of rows) {
      addOpener(table, one)
      indent(document, one, titles.indexOf(''), depth)
    }
    row.after(...rows)
    return rows.length
  }

  const toggle = async (table, row, link, button) => {
    if (button.getAttribute('aria-expanded') === 'true') {
      closeRow(row)
      button.setAttribute('aria-expanded', 'false')
      return
    }
    if (button.hasAttribute('aria-busy')) return
    button.setAttribute('aria-busy', 'true')
    try {
      const n = await openRow(table, row, link)
      button.setAttribute('aria-expanded', 'true')
      announce(document, `${n} rows below`)
    } catch {
      announce(document, 'the level cannot be opened here')
    }
    button.removeAttribute('aria-busy')
  }

  function addOpener(table, row) {
    const link = row.querySelector('a.level')
    if (!link) return
    for (const old of row.querySelectorAll('.open')) old.remove()
    const button = element(document, 'button', {
      type: 'button', class: 'open', 'aria-expanded': 'false',
      'aria-label': `Open ${link.textContent.trim()} here`,
      on: { click: () => toggle(table, row, link, button) },
    })
    link.before(button)
  }

  for (const table of root.querySelectorAll('table:not([data-tree])')) {
    if (!isTree(table)) continue
    table.setAttribute('data-tree', '')
    for (const row of table.querySelectorAll('tbody tr')) addOpener(table, row)
  }
}
