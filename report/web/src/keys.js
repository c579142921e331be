// SPDX-License-Identifier: BSD-2-Clause
// What keys do, and the dialog that says so.
import { tinykeys } from 'tinykeys'
import { element, shownPage, takesText } from './dom.js'
import { goUp, navLetters } from './nav.js'
import { currentRow, moveRow } from './rows.js'

export function focusFilter(document) {
  const input = [...shownPage(document).querySelectorAll('input[type="search"]')]
    .find((candidate) => candidate.getClientRects().length > 0)
  input?.focus()
  input?.select()
  return Boolean(input)
}

const explained = [
  ['?', 'this list'],
  ['/', 'filter the rows of a table, search in a picture'],
  ['j k ↓ ↑', 'next and previous row'],
  ['Enter', 'open the link of the row, sort by the column'],
  ['u Backspace', 'the page above, or the one before'],
  ['← ↑ → ↓', 'move in a picture'],
  ['z', 'zoom into a flame graph'],
  ['Esc', 'close, clear, zoom out'],
]

function buildHelp(document, links, letters) {
  const list = element(document, 'dl')
  const put = (keys, text) => {
    const names = keys.split(' ').flatMap((key) => [element(document, 'kbd', {}, key), ' '])
    list.append(element(document, 'dt', {}, ...names), element(document, 'dd', {}, text))
  }
  for (const [keys, text] of explained) put(keys, text)
  links.forEach((link, i) => letters[i] && put(`g ${letters[i]}`, link.textContent))
  const dialog = element(document, 'dialog', { 'aria-labelledby': 'keys-title' },
    element(document, 'h2', { id: 'keys-title' }, 'Keys'), list,
    element(document, 'form', { method: 'dialog' },
      element(document, 'button', { value: 'close' }, 'Close')))
  document.body.append(dialog)
  return dialog
}

export function followKeys(document) {
  const links = [...document.querySelectorAll('nav a')]
  const letters = navLetters(links.map((link) => link.textContent))
  let help = null
  const showHelp = () => {
    help ??= buildHelp(document, links, letters)
    if (!help.open) help.showModal()
  }
  // Not while someone writes, or while the list of keys is open.
  const unlessWriting = (act) => (event) => {
    if (takesText(event.target) || help?.open || event.defaultPrevented) return
    if (act(event) !== false) event.preventDefault()
  }
  const bindings = {
    'Shift+?': showHelp, '?': showHelp,
    '/': () => focusFilter(document), 'Shift+/': () => focusFilter(document),
    j: () => moveRow(document, 1), k: () => moveRow(document, -1),
    // Elsewhere arrows scroll.
    ArrowDown: () => currentRow(document) !== null && moveRow(document, 1),
    ArrowUp: () => currentRow(document) !== null && moveRow(document, -1),
    u: () => goUp(document), Backspace: () => goUp(document),
  }
  links.forEach((link, i) => {
    if (letters[i]) bindings[`g ${letters[i]}`] = () => link.click()
  })
  for (const key of Object.keys(bindings)) bindings[key] = unlessWriting(bindings[key])
  bindings.Escape = (event) => {
    if (!event.target.matches?.('input[type="search"]')) return
    event.target.value = ''
    event.target.dispatchEvent(new document.defaultView.Event('input', { bubbles: true }))
    event.target.blur()
  }
  tinykeys(document.defaultView, bindings)
  return showHelp
}
