// SPDX-License-Identifier: BSD-2-Clause
// Pages are complete without this script; it makes them quicker to use.
import { copyButton, enhanceCommands } from './copy.js'
import { element } from './dom.js'
import { followKeys } from './keys.js'
import { packedPages } from './packed.js'
import { followAddress } from './pages.js'
import { enhancePictures } from './picture.js'
import { enhanceTables } from './table.js'
import { themeButton } from './theme.js'
import { enhanceTree } from './tree.js'

const isFile = document.body.classList.contains('pages')
const packed = isFile ? packedPages(document) : null

async function fetchPage(address) {
  const answer = await fetch(address)
  if (!answer.ok) return null
  return new DOMParser().parseFromString(await answer.text(), 'text/html')
}

function enhance(root) {
  if (!root) return
  enhanceTree(root, isFile ? (address) => packed.find(address.slice(1)) : fetchPage)
  enhanceTables(root)
  enhanceCommands(root)
  enhancePictures(root)
}

function addButtons(showHelp) {
  const header = document.querySelector('header')
  header?.append(element(document, 'div', { class: 'tools' },
    copyButton(document, 'Copy address', 'Copy address of this page', () => location.href),
    themeButton(document),
    element(document, 'button', { type: 'button', 'aria-haspopup': 'dialog', on: { click: showHelp } },
      'Keys ', element(document, 'kbd', {}, '?'))))
}

// The address stays that of the page.
document.querySelector('.skip')?.addEventListener('click', (event) => {
  event.preventDefault()
  document.getElementById('main')?.focus()
})
addButtons(followKeys(document))
if (isFile) followAddress(document, enhance, packed)
else enhance(document.querySelector('main'))
