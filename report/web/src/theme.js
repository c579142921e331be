// SPDX-License-Identifier: BSD-2-Clause
// The theme: that of the system, unless a reader chooses one.
import { element } from './dom.js'

const KEY = 'heapinspect-theme'
const themes = ['system', 'light', 'dark']

// A file may have no storage, and reading it may throw.
export function storedTheme(view) {
  try {
    const kept = view.localStorage.getItem(KEY)
    return themes.includes(kept) ? kept : 'system'
  } catch {
    return 'system'
  }
}

function keepTheme(view, theme) {
  try {
    view.localStorage.setItem(KEY, theme)
  } catch {
    // It holds for this page.
  }
}

export function showTheme(document, theme) {
  const root = document.documentElement
  if (theme === 'system') root.removeAttribute('data-theme')
  else root.setAttribute('data-theme', theme)
}

export function themeButton(document) {
  const view = document.defaultView
  let theme = storedTheme(view)
  showTheme(document, theme)
  const button = element(document, 'button', {
    type: 'button',
    on: {
      click: () => {
        theme = themes[(themes.indexOf(theme) + 1) % themes.length]
        button.textContent = `Theme: ${theme}`
        showTheme(document, theme)
        keepTheme(view, theme)
      },
    },
  }, `Theme: ${theme}`)
  return button
}
