// SPDX-License-Identifier: BSD-2-Clause
// Tables: sorted by their headers, filtered by text, and wide ones scroll by themselves.
import { announce, element } from './dom.js'
import { matches, sortedRows } from './order.js'
import { closeLevels } from './tree.js'

const LONG = 12 // rows, from where on a table can be filtered

function showRows(body, rows) {
  const all = body.ownerDocument.createDocumentFragment()
  for (const row of rows) all.append(row)
  body.append(all)
}

// A column of figures begins with the largest; the third time is the order of the page.
export function nextOrder(present, isFigure) {
  const orders = isFigure ? ['descending', 'ascending'] : ['ascending', 'descending']
  return orders[orders.indexOf(present) + 1]
}

function sortBy(table, header, original) {
  const order = nextOrder(header.getAttribute('aria-sort'), header.classList.contains('n'))
  for (const other of table.querySelectorAll('[aria-sort]')) other.removeAttribute('aria-sort')
  if (order) header.setAttribute('aria-sort', order)
  const at = [...header.parentNode.children].indexOf(header)
  closeLevels(table)
  showRows(table.tBodies[0],
    order ? sortedRows(original, at, order === 'descending') : original)
  announce(table.ownerDocument, order
    ? `sorted by ${header.textContent.trim()}, ${order}` : 'order of the page')
}

function makeSortable(table) {
  const document = table.ownerDocument
  const original = [...table.tBodies[0].rows]
  if (original.length < 2) return
  for (const header of table.querySelectorAll('thead th')) {
    const button = element(document, 'button', {
      type: 'button', class: 'sort', on: { click: () => sortBy(table, header, original) },
    })
    button.append(...header.childNodes)
    header.append(button)
  }
}

export function filterRows(rows, query) {
  let shown = 0
  for (const row of rows) {
    row.hidden = query !== '' && !matches(row.textContent, query)
    shown += !row.hidden
  }
  return shown
}

function makeFilter(table) {
  const document = table.ownerDocument
  const rows = [...table.tBodies[0].rows]
  if (rows.length < LONG) return
  const count = element(document, 'output')
  const input = element(document, 'input', {
    type: 'search', class: 'filter', autocomplete: 'off', spellcheck: 'false',
    on: {
      input: () => {
        closeLevels(table)
        const shown = filterRows(rows, input.value.trim())
        count.textContent = shown === rows.length ? '' : `${shown} of ${rows.length} rows`
      },
    },
  })
  const tools = element(document, 'div', { class: 'tools' },
    element(document, 'label', {}, 'Filter rows ', input), count)
  table.closest('.scroll').before(tools)
}

// A table that is not wider than its region needs no way to scroll; its header can then
// stay at the top of the window.
function watchWidth(region) {
  const view = region.ownerDocument.defaultView
  const measure = () => {
    if (region.clientWidth === 0) return // its page is not shown
    region.classList.remove('fits')
    const fits = region.scrollWidth <= region.clientWidth
    region.classList.toggle('fits', fits)
    if (fits) region.removeAttribute('tabindex')
    else region.setAttribute('tabindex', '0')
  }
  if (view.ResizeObserver) new view.ResizeObserver(measure).observe(region)
}

export function enhanceTables(root) {
  for (const region of root.querySelectorAll('.scroll:not([data-ready])')) {
    region.setAttribute('data-ready', '')
    const table = region.querySelector('table')
    if (table?.tBodies.length) {
      makeSortable(table)
      makeFilter(table)
    }
    watchWidth(region)
  }
}
