// SPDX-License-Identifier: BSD-2-Clause
// Ways to other pages by keys.
import { shownPage } from './dom.js'

// A letter for each link of the navigation: of its label, as far to the left as possible.
export function navLetters(labels) {
  const taken = new Set()
  return labels.map((label) => {
    const letter = [...label.toLowerCase()].find((c) => /[a-z0-9]/.test(c) && !taken.has(c))
    if (letter) taken.add(letter)
    return letter
  })
}

export function goUp(document) {
  const view = document.defaultView
  const up = document.querySelector('link[rel="up"]')?.href
    ?? shownPage(document).getAttribute('data-up')
  if (up) view.location.assign(up)
  else view.history.back()
}
