// SPDX-License-Identifier: BSD-2-Clause
// Elements without markup: text stays text, whatever the target has in its names.

// properties: attributes; `on`: listeners by name.
export function element(document, name, { on = {}, ...attributes } = {}, ...children) {
  const ret = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) ret.setAttribute(key, value)
  for (const [key, listener] of Object.entries(on)) ret.addEventListener(key, listener)
  ret.append(...children)
  return ret
}

// For people who do not see what changed.
export function announce(document, text) {
  let status = document.getElementById('status')
  if (!status) {
    status = element(document, 'div', { id: 'status', class: 'sr', role: 'status' })
    document.body.append(status)
  }
  status.textContent = text
}

// Does this element take keys as text?
export function takesText(target) {
  return Boolean(target?.closest?.('input, textarea, select, [contenteditable]'))
}

// What a reader sees: a page of a file of many, or all there is.
export function shownPage(document) {
  return document.querySelector('main > section.shown') ?? document.querySelector('main')
}
