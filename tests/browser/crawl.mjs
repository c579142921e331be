// SPDX-License-Identifier: BSD-2-Clause
// Opens every page that links lead to, of a server or of one file.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { listen, look, settle, shorten } from './chromium.mjs'
import { findOverflow, inspectDocument, inspectShown, isOpened, readVisible, runAxe } from './inside.mjs'

// An address may have bytes of a name that are no UTF-8.
function decode(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

// The kind of a page: what it shows, without of what, and by which options. Of a URL with
// a token in its path the token is left out.
export function kindOf(url, start) {
  const at = new URL(url)
  const from = new URL(start)
  if (at.protocol === 'file:') return `#${decode(at.hash.slice(1)).split(/[-_/?]/)[0]}`
  const root = from.pathname.slice(0, from.pathname.lastIndexOf('/') + 1)
  const path = at.pathname.startsWith(root) ? at.pathname.slice(root.length) : at.pathname
  const [name, ...argument] = path.split('/')
  const words = decode(argument.join('/')).split(/[/&]/)
  const inner = name === 'deep' && argument.length ? `/${words[0]}` : argument.length ? '/x' : ''
  const options = [...new Set(at.searchParams.keys())].filter((key) => key !== 'token').sort()
  return `${name}${inner}${options.length ? `?${options.join('&')}` : ''}`
}

// Found, not yet opened; the next one is of the kind that was opened least.
class Queue {
  constructor(start) {
    this.start = start
    this.seen = new Set()
    this.kinds = new Map()
    this.add(start, 'the first page')
  }

  add(url, from) {
    if (this.seen.has(url)) return
    this.seen.add(url)
    const kind = kindOf(url, this.start)
    if (!this.kinds.has(kind)) this.kinds.set(kind, { opened: 0, waiting: [] })
    this.kinds.get(kind).waiting.push({ url, from, kind })
  }

  next() {
    let best = null
    for (const kind of this.kinds.values()) {
      if (kind.waiting.length && (!best || kind.opened < best.opened)) best = kind
    }
    if (!best) return null
    best.opened++
    // By turns from both ends: near the first page, and far from it.
    return best.opened % 2 ? best.waiting.shift() : best.waiting.pop()
  }

  waiting() {
    return [...this.kinds.values()].reduce((n, kind) => n + kind.waiting.length, 0)
  }
}

function middle(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted.length ? sorted[sorted.length >> 1] : 0
}

export class Crawl {
  // options: limit (of pages), often (pages of each kind, at least), axe (its source; none:
  // no checks by it), pictures (a directory for screenshots), narrow (look at 640 px, too),
  // absent (kinds of page that the file has not)
  constructor(browser, start, options) {
    Object.assign(this, { browser, start, ...options })
    this.isFile = start.startsWith('file:')
    this.home = this.isFile ? start : new URL(start).origin
    this.problems = []
    this.queue = new Queue(start)
    this.waits = []
    this.titles = new Map()
    this.byUrl = new Map() // titles
    this.pages = new Set() // of the navigation
    this.most = { wait: 0, bytes: 0, elements: 0 }
  }

  problem(text) {
    if (this.problems.length < 200 && !this.problems.includes(text)) this.problems.push(text)
  }

  isOurs(url) {
    if (this.isFile) return url.split('#')[0] === this.home || url.startsWith('data:image/')
    return url.startsWith('data:image/') || new URL(url).origin === this.home
  }

  async openPage({ scripts = true } = {}) {
    const page = await this.browser.newPage()
    if (!scripts) await page.setJavaScriptEnabled(false)
    await listen(page, {
      problem: (text) => this.problem(text),
      isOurs: (url) => this.isOurs(url),
      mayFail: (url) => (this.absent ?? []).includes(kindOf(url, this.start)),
    })
    await look(page, {})
    return page
  }

  async go(page, url) {
    await page.goto(url, { waitUntil: 'load', timeout: 120000 })
  }

  async run() {
    this.page = await this.openPage()
    let n = 0
    for (let item; n < this.limit && (item = this.queue.next()); n++) await this.visit(item)
    await this.page.close()
    await this.readWithoutScripts()
    return this.sum(n)
  }

  async visit({ url, from, kind }) {
    const { page } = this
    try {
      await this.go(page, url)
    } catch (error) {
      this.problem(`${shorten(url)}, a link of ${shorten(from)}: ${error.message}`)
      return
    }
    const isPart = this.isFile && this.byUrl.size > 0
    if (isPart) {
      for (let n = 0; n < 600 && !await page.evaluate(isOpened); n++) await settle(page)
      await settle(page)
    }
    const found = await page.evaluate(isPart ? inspectShown : inspectDocument)
    for (const text of found.problems) this.problem(`${shorten(url)}: ${text}`)
    this.waits.push(found.wait)
    for (const key of ['wait', 'bytes', 'elements']) this.most[key] = Math.max(this.most[key], found[key])
    this.titles.set(kind, found.title)
    this.byUrl.set(url, found.title)
    for (const page of found.pages) this.pages.add(page)
    for (const link of found.links) this.follow(link.url, url)
    if (this.queue.kinds.get(kind).opened === 1) await this.lookAround(kind, url)
  }

  // Of many tabs, people find one by its title. Those of the navigation have their own.
  compareTitles() {
    const found = new Map()
    for (const [url, title] of this.byUrl) {
      if (!this.pages.has(url)) continue
      if (found.has(title)) this.problem(`${shorten(url)} has the title of ${shorten(found.get(title))}: ${title}`)
      found.set(title, url)
    }
  }

  follow(link, from) {
    if (!/^(https?|file):/.test(link)) return
    if (!this.isFile) link = link.split('#')[0]
    if (!this.isOurs(link)) this.problem(`${shorten(from)}: a link to ${shorten(link)}`)
    else this.queue.add(link, from)
  }

  async lookAround(kind, url) {
    const { page } = this
    for (const scheme of ['light', 'dark']) {
      await look(page, { scheme })
      await settle(page)
      if (this.axe) {
        await page.evaluate(this.axe)
        for (const text of await page.evaluate(runAxe, scheme === 'light')) this.problem(`${scheme} ${shorten(url)}: ${text}`)
      }
      await this.picture(kind, `${scheme}-1280`)
    }
    for (const scheme of this.narrow ? ['light', 'dark'] : []) {
      await look(page, { scheme, width: 640 })
      await settle(page)
      for (const text of await page.evaluate(findOverflow)) this.problem(`640 px ${shorten(url)}: ${text}`)
      await this.picture(kind, `${scheme}-640`)
    }
    await look(page, {})
    await this.print(kind)
  }

  fileOf(kind, what) {
    mkdirSync(this.pictures, { recursive: true })
    return join(this.pictures, `${kind.replace(/[^a-z0-9]+/gi, '-').slice(0, 60) || 'first'}-${what}`)
  }

  async picture(kind, what) {
    if (!this.pictures) return
    const height = await this.page.evaluate(() => document.documentElement.scrollHeight)
    const { width } = this.page.viewport()
    await this.page.screenshot({
      path: this.fileOf(kind, `${what}.png`),
      captureBeyondViewport: true,
      clip: { x: 0, y: 0, width, height: Math.min(Math.max(height, 200), 3000) },
    })
  }

  async print(kind) {
    if (this.pictures) await this.page.pdf({ path: this.fileOf(kind, 'print.pdf'), format: 'A4' })
  }

  // A page of each kind, or of some where few are opened: its text is there without
  // scripts, and as many links. Of a file, the first page.
  async readWithoutScripts() {
    const bare = await this.openPage({ scripts: false })
    const full = await this.openPage()
    const most = this.isFile ? 1 : this.limit < 100 ? 4 : Infinity
    for (const kind of [...this.titles.keys()].slice(0, most)) {
      const url = [...this.queue.seen].find((u) => kindOf(u, this.start) === kind)
      await this.go(bare, url)
      await this.go(full, url)
      const [without, whole] = [await bare.evaluate(readVisible), await full.evaluate(readVisible)]
      const words = new Set(without.words)
      const lost = whole.words.filter((word) => !words.has(word))
      if (without.words.length < 5) this.problem(`${shorten(url)} is empty without scripts`)
      if (lost.length > whole.words.length / 10 + 10) {
        this.problem(`${shorten(url)} without scripts lacks ${lost.length} words: ${lost.slice(0, 8).join(' ')}`)
      }
      if (!this.isFile && without.links.length < whole.links.length) {
        this.problem(`${shorten(url)} has ${without.links.length} links without scripts, ${whole.links.length} with`)
      }
    }
    await bare.close()
    await full.close()
  }

  sum(pages) {
    this.compareTitles()
    const kinds = Object.fromEntries([...this.queue.kinds].map(([kind, { opened }]) => [kind, opened]))
    for (const [kind, { opened, waiting }] of this.queue.kinds) {
      if (waiting.length && opened < this.often) {
        this.problem(`the limit of ${this.limit} pages left out pages of the kind ${kind}`)
      }
    }
    return {
      pages,
      left: this.queue.waiting(),
      kinds,
      medianWait: Math.round(middle(this.waits)),
      worstWait: Math.round(this.most.wait),
      mostBytes: this.most.bytes,
      mostElements: this.most.elements,
      problems: this.problems,
    }
  }
}
