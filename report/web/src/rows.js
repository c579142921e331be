// SPDX-License-Identifier: BSD-2-Clause
// One row of the tables of a page is the current one: it, or its first link, has the focus.

import { shownPage } from './dom.js'

function isShown(row) {
  return !row.hidden && row.getClientRects().length > 0
}

function shownRows(document) {
  return [...shownPage(document).querySelectorAll('tbody tr')].filter(isShown)
}

export function focusRow(row) {
  const link = row.querySelector('a[href]')
  if (!link) row.setAttribute('tabindex', '-1')
  const target = link ?? row
  target.focus({ preventScroll: true })
  row.scrollIntoView?.({ block: 'nearest' })
}

export function currentRow(document) {
  return document.activeElement?.closest?.('tbody tr') ?? null
}

// From the current row to the next (step 1) or the one before (-1).
export function moveRow(document, step, rows = shownRows(document)) {
  if (rows.length === 0) return false
  const at = rows.indexOf(currentRow(document))
  const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step
  if (next < 0 || next >= rows.length) return false
  focusRow(rows[next])
  return true
}
