// SPDX-License-Identifier: BSD-2-Clause
// One file of many pages: shows the one that the address names; its title, the navigation
// and the focus follow.

import { announce } from './dom.js'

function nameOf(hash) {
  try {
    return decodeURIComponent(hash.slice(1))
  } catch {
    return hash.slice(1) // no escape: the name as it is
  }
}

export function pageOf(document, hash) {
  const name = nameOf(hash)
  const target = name ? document.getElementById(name) : null
  return target?.closest('main > section') ?? document.querySelector('main > section')
}

export function markCurrent(document, page) {
  const first = document.querySelector('main > section')
  for (const link of document.querySelectorAll('nav a')) {
    const names = link.getAttribute('href') === `#${page?.id}`
    if (names || (page === first && link.getAttribute('href') === '#')) {
      link.setAttribute('aria-current', 'page')
    } else {
      link.removeAttribute('aria-current')
    }
  }
}

function titleOf(page, base) {
  const text = page?.querySelector('h1')?.textContent.trim()
  return text && text !== base ? `${text} · ${base}` : base
}

// show: called with each page when it is shown. packed: pages that are not in the document
// (packed.js).
export function followAddress(document, show, packed) {
  const view = document.defaultView
  const base = document.title
  const left = new Map() // page: the link that was followed from it
  let page = null
  let followed = false

  const showPage = () => {
    const before = page
    page = pageOf(document, view.location.hash)
    before?.classList.remove('shown')
    page?.classList.add('shown')
    document.title = titleOf(page, base)
    markCurrent(document, page)
    show(page)
    if (!page || page === before || !before) return
    const back = followed ? null : left.get(page)
    const heading = page.querySelector('h1')
    heading?.setAttribute('tabindex', '-1')
    ;(back ?? heading)?.focus({ preventScroll: true })
    if (followed) view.scrollTo(0, 0)
    followed = false
  }
  const change = () => {
    const { hash } = view.location
    const unpacking = packed.show(nameOf(hash))
    if (!unpacking) return showPage()
    // Meanwhile another one may be asked for.
    const showIfWanted = () => view.location.hash === hash && showPage()
    unpacking.then(showIfWanted, () => {
      showIfWanted()
      announce(document, 'this page cannot be unpacked')
    })
  }
  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a')
    if (!link?.getAttribute('href')?.startsWith('#')) return
    followed = true
    if (page?.contains(link)) left.set(page, link)
  })
  view.addEventListener('hashchange', change)
  document.body.classList.add('scripted')
  change()
}
