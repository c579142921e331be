// SPDX-License-Identifier: BSD-2-Clause
// A DHAT file as valgrind's viewer reads it:
//
//	node dhat_view.mjs DH_VIEW.JS FILE
//
// The viewer's own code builds its tree and its page from the file, in a document that
// is just large enough, and checks the file as it does so. Prints what the root of its
// tree has, the page, and the program points with the functions of their frames.
import { readFileSync } from 'node:fs'
import vm from 'node:vm'

const [viewer, file] = process.argv.slice(2)

class Element {
  constructor(tag) {
    this.tag = tag
    this.childNodes = []
    this.text = ''
  }
  appendChild(child) {
    this.childNodes.push(child)
    child.parentNode = this
  }
  replaceChild(next, old) {
    this.childNodes[this.childNodes.indexOf(old)] = next
    next.parentNode = this
  }
  cloneNode() {
    const clone = new Element(this.tag)
    clone.parentNode = this.parentNode
    return clone
  }
  set textContent(text) { this.text = text }
  get textContent() { return this.text + this.childNodes.map((c) => c.textContent).join('') }
  get selectedIndex() { return this.childNodes.findIndex((c) => c.selected) }
}

const document = {
  body: new Element('body'),
  location: { search: '' },
  createElement: (tag) => new Element(tag),
  createTextNode: (text) => Object.assign(new Element('#text'), { text }),
}
const context = vm.createContext({ document, performance, URLSearchParams, data: readFileSync(file, 'utf8') })
const shown = vm.runInContext(`${readFileSync(viewer, 'utf8')}
onLoad()
gFilename = 'x'
gData = JSON.parse(data)
buildTree()
displayTree()
JSON.stringify({ bytes: gRoot._totalBytes, blocks: gRoot._totalBlocks, page: gMainDiv.textContent })`, context)

const { pps, ftbl, ...header } = JSON.parse(readFileSync(file, 'utf8'))
const frame = /^0x[0-9A-F]+: (.+) \((?:in )?[^()]+\)$/
const points = pps.map(({ fs, ...numbers }) => {
  const names = fs.map((i) => ftbl[i].startsWith('[') ? ftbl[i] : frame.exec(ftbl[i])[1])
  return { ...numbers, functions: names.join('<') }
})
console.log(JSON.stringify({ ...JSON.parse(shown), header, points }))
