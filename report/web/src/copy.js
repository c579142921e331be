// SPDX-License-Identifier: BSD-2-Clause
// Buttons that copy a command line, or the address of the page.
import { announce, element } from './dom.js'

// Where the clipboard is not given to scripts: a file, an old browser.
function copySelected(document, text) {
  const area = element(document, 'textarea', { class: 'sr', 'aria-hidden': 'true' })
  area.value = text
  document.body.append(area)
  area.select()
  const done = document.execCommand('copy')
  area.remove()
  return done
}

export async function copyText(document, text) {
  try {
    await document.defaultView.navigator.clipboard.writeText(text)
    return true
  } catch {
    try {
      return copySelected(document, text)
    } catch {
      return false
    }
  }
}

export function copyButton(document, label, name, text) {
  const button = element(document, 'button', {
    type: 'button', class: 'copy', 'aria-label': name,
    on: {
      click: async () => {
        const done = await copyText(document, text())
        announce(document, done ? 'copied' : 'the browser does not let pages copy')
        button.textContent = done ? 'Copied' : 'Not copied'
        document.defaultView.setTimeout(() => { button.textContent = label }, 1500)
        button.focus()
      },
    },
  }, label)
  return button
}

export function enhanceCommands(root) {
  const document = root.ownerDocument ?? root
  for (const code of root.querySelectorAll('.commands code:not([data-ready])')) {
    code.setAttribute('data-ready', '')
    code.closest('li').append(
      copyButton(document, 'Copy', 'Copy command', () => code.textContent))
  }
}
