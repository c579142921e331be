// SPDX-License-Identifier: BSD-2-Clause
// A walk through pages by the keyboard alone: what the list of keys says is what they do.
import { listen, look } from './chromium.mjs'

const STOPS = 80 // of the tab key, at most

// The element that has the focus, as plain data.
function describeFocus() {
  const e = document.activeElement
  if (!e || e === document.body) return null
  const box = e.getBoundingClientRect()
  const style = getComputedStyle(e)
  const ring = (s) => (s.outlineStyle !== 'none' && Number.parseFloat(s.outlineWidth) > 0) || s.boxShadow !== 'none'
  const shape = e.querySelector('rect, path')
  return {
    name: e.localName,
    text: (e.getAttribute('aria-label') ?? e.textContent).trim().slice(0, 60),
    href: e.getAttribute('href'),
    url: e.href?.baseVal ?? e.href ?? null,
    inside: ['dialog', 'nav', 'header', 'main'].filter((name) => e.closest(name)),
    isInTable: Boolean(e.closest('table')),
    isInPicture: Boolean(e.closest('svg')),
    row: [...document.querySelectorAll('main tbody tr')].filter((r) => r.getClientRects().length)
      .indexOf(e.closest('tr')),
    isSeen: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight &&
      box.right > 0 && box.left < innerWidth,
    hasRing: ring(style) || (shape ? ring(getComputedStyle(shape)) ||
      getComputedStyle(shape).stroke !== 'none' : false),
  }
}

function countRows() {
  return [...document.querySelectorAll('main tbody tr')].filter((row) => row.getClientRects().length > 0).length
}

export class Keys {
  constructor(browser, start) {
    Object.assign(this, { browser, start, problems: [], done: 0 })
  }

  expect(ok, text) {
    if (ok) this.done++
    else this.problems.push(text)
    return ok
  }

  focus() {
    return this.page.evaluate(describeFocus)
  }

  // "?" needs Shift on a real keyboard.
  async press(...keys) {
    for (const key of keys) await this.page.keyboard.press(key)
  }

  async run() {
    this.page = await this.browser.newPage()
    await listen(this.page, {
      problem: (text) => this.problems.push(text),
      isOurs: (url) => new URL(url).origin === new URL(this.start).origin,
    })
    await look(this.page, {})
    await this.open(this.start)
    const letters = await this.readHelp()
    await this.walkByTab()
    await this.skipToContent()
    await this.goByLetters(letters)
    await this.walkTables()
    await this.walkPictures()
    await this.changeTheme()
    await this.page.close()
    return { done: this.done, problems: this.problems }
  }

  async open(url) {
    await this.page.goto(url, { waitUntil: 'load' })
  }

  // Presses a key that opens another page; its URL.
  async follow(...keys) {
    const opened = this.page.waitForNavigation({ timeout: 15000 }).catch(() => null)
    await this.press(...keys)
    await opened
    return this.page.url()
  }

  async readHelp() {
    await this.press('?')
    const help = await this.page.evaluate(() => {
      const dialog = document.querySelector('dialog[open]')
      return dialog && { text: dialog.textContent, keys: [...dialog.querySelectorAll('kbd')].map((k) => k.textContent) }
    })
    if (!this.expect(help, '? opens no list of keys')) return []
    for (const key of ['?', '/', 'j', 'k', 'Enter', 'u', 'Esc']) {
      this.expect(help.keys.includes(key), `the list of keys does not name ${key}`)
    }
    await this.press('Tab')
    const focus = await this.focus() // null: the browser's own buttons
    this.expect(!focus || focus.inside.includes('dialog'), 'Tab leaves the open list of keys')
    await this.press('j')
    this.expect(await this.page.$('dialog[open]'), 'j closes the list of keys')
    await this.press('Escape')
    this.expect(!(await this.page.$('dialog[open]')), 'Esc does not close the list of keys')
    return this.page.evaluate(() => [...document.querySelectorAll('dialog dt')]
      .map((dt) => [[...dt.querySelectorAll('kbd')].map((k) => k.textContent), dt.nextElementSibling.textContent])
      .filter(([keys]) => keys[0] === 'g'))
  }

  async walkByTab() {
    await this.open(this.start)
    const stops = []
    for (let i = 0; i < STOPS; i++) {
      await this.press('Tab')
      const stop = await this.focus()
      if (!stop) break
      stops.push(stop)
      this.expect(stop.isSeen, `Tab comes to "${stop.text}", which is not seen`)
      this.expect(stop.hasRing, `"${stop.text}" (${stop.name}) has the focus, which is not seen`)
      if (stop.isInTable && stops.length > 40) break
    }
    const links = await this.page.$$eval('nav a', (all) => all.map((a) => a.getAttribute('href')))
    const reached = stops.filter((s) => s.inside.includes('nav')).map((s) => s.href)
    this.expect(/skip/i.test(stops[0]?.text ?? ''), `Tab comes first to "${stops[0]?.text}", not to a way to the content`)
    this.expect(links.every((href) => reached.includes(href)), `Tab reaches ${reached.length} of ${links.length} links of the navigation`)
    this.expect(stops.some((s) => s.inside.includes('main')), 'Tab does not reach the content')
    await this.page.keyboard.down('Shift')
    await this.press('Tab')
    await this.page.keyboard.up('Shift')
    const back = await this.focus()
    this.expect(back && back.text !== stops.at(-1).text, 'Shift+Tab does not go back')
  }

  async skipToContent() {
    await this.open(this.start)
    await this.press('Tab', 'Enter')
    const focus = await this.focus()
    this.expect(focus?.name === 'main' || focus?.inside.includes('main'), `the way to the content ends at ${focus?.name}`)
    await this.press('Tab')
    this.expect((await this.focus())?.inside.includes('main'), 'behind the way to the content Tab leaves it')
  }

  async goByLetters(letters) {
    const wanted = await this.page.$$eval('nav a', (all) => all.map((a) => [a.textContent.trim(), a.href]))
    this.expect(letters.length >= wanted.length - 2, `${letters.length} of ${wanted.length} pages of the navigation have a letter`)
    for (const [keys, text] of letters) {
      await this.open(this.start)
      const [, href] = wanted.find(([label]) => label === text.trim()) ?? []
      const url = await this.follow(...keys)
      this.expect(url.split('#')[0] === href?.split('#')[0], `${keys.join(' ')} (${text}) leads to ${url}`)
    }
  }

  // The first page of the navigation with a long table whose rows have links.
  async openTable() {
    await this.open(this.start)
    const pages = await this.page.$$eval('nav a', (all) => all.map((a) => a.href))
    for (const url of pages) {
      await this.open(url)
      const found = await this.page.evaluate(() => [...document.querySelectorAll('main table')].some((t) =>
        t.tBodies[0]?.rows.length >= 12 && t.tBodies[0].querySelector('a[href]')))
      if (found) return url
    }
    return null
  }

  async walkTables() {
    const table = await this.openTable()
    if (!this.expect(table, 'no page has a long table with links')) return
    const rows = []
    for (const key of ['j', 'j', 'j', 'k', 'ArrowDown', 'ArrowUp']) {
      await this.press(key)
      rows.push((await this.focus())?.row)
    }
    this.expect(String(rows) === '0,1,2,1,2,1', `j j j k ↓ ↑ come to the rows ${rows}`)
    await this.openLinkOfRow(table)
    await this.filterTable(table)
    await this.sortTable(table)
  }

  async openLinkOfRow(table) {
    for (let i = 0; i < 12 && !(await this.focus())?.url; i++) await this.press('j')
    const focus = await this.focus()
    this.expect(focus?.hasRing, 'the current row is not seen')
    if (!this.expect(focus?.url, 'no row of the table has a link that j comes to')) return
    const url = await this.follow('Enter')
    this.expect(url.split('#')[0] === focus.url.split('#')[0], `Enter on a row leads to ${url}, not to ${focus.url}`)
    const above = await this.page.evaluate(() => document.querySelector('link[rel=up]')?.href ?? null)
    const up = await this.follow('u')
    this.expect(up === (above ?? table), `u leads to ${up}, not to ${above ?? table}`)
  }

  async filterTable(table) {
    await this.open(table)
    const all = await this.page.evaluate(countRows)
    await this.press('/')
    const focus = await this.focus()
    if (!this.expect(focus?.name === 'input', `/ comes to ${focus?.name}`)) return
    await this.page.keyboard.type('jku?qzzz')
    const value = await this.page.evaluate(() => document.activeElement.value)
    this.expect(value === 'jku?qzzz', `in the filter "jku?qzzz" became "${value}"`)
    const some = await this.page.evaluate(countRows)
    this.expect(some < all, `the filter leaves ${some} of ${all} rows`)
    await this.press('Escape')
    this.expect(await this.page.evaluate(countRows) === all, 'Esc does not clear the filter')
    await this.press('j')
    this.expect((await this.focus())?.row >= 0, 'behind the filter j does nothing')
  }

  // By each column: what the cells say in their own figures is in order.
  async sortTable(table) {
    await this.open(table)
    const headers = await this.page.$$('main table thead th button')
    if (!this.expect(headers.length, 'no column can be sorted')) return
    for (const header of headers.slice(0, 4)) {
      await header.focus()
      await this.press('Enter')
      const found = await header.evaluate((button) => {
        const th = button.closest('th')
        const at = [...th.parentNode.children].indexOf(th)
        const cells = [...th.closest('table').tBodies[0].rows].map((row) => row.cells[at])
        return { sort: th.getAttribute('aria-sort'), title: th.textContent.trim(), values: cells.map((c) => c?.dataset.v ?? null) }
      })
      this.expect(found.sort, `Enter on "${found.title}" does not sort`)
      const numbers = found.values.filter((v) => v !== null).map(Number)
      const sign = found.sort === 'descending' ? -1 : 1
      this.expect(numbers.every((v, i) => i === 0 || sign * (v - numbers[i - 1]) >= 0),
        `sorted by "${found.title}", ${found.sort}: ${numbers.slice(0, 8)}`)
    }
  }

  // A picture of a page of the navigation: one stop of Tab, arrows move in it.
  async walkPictures() {
    await this.open(this.start)
    const pages = await this.page.$$eval('nav a', (all) => all.map((a) => a.href))
    for (const url of pages) {
      await this.open(url)
      const nodes = await this.page.$$('main figure .node')
      if (nodes.length < 4) continue
      await this.page.evaluate(() => document.querySelector('main figure .node[tabindex="0"]')?.focus())
      const before = await this.focus()
      if (!this.expect(before?.isInPicture, `no node of the picture of ${url} takes the focus`)) continue
      const reached = new Set([before.text])
      for (const key of ['ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowUp', 'ArrowRight']) {
        await this.press(key)
        const focus = await this.focus()
        this.expect(focus?.isInPicture, `${key} leaves the picture of ${url}`)
        this.expect(focus?.hasRing, `a node of ${url} has the focus, which is not seen`)
        reached.add(focus?.text)
      }
      this.expect(reached.size > 1, `arrows do not move in the picture of ${url}`)
      this.pictures = (this.pictures ?? 0) + 1
    }
  }

  // A theme that was chosen holds on the next page.
  async changeTheme() {
    await this.open(this.start)
    const colour = () => this.page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const button = await this.page.evaluateHandle(() =>
      [...document.querySelectorAll('header button')].find((b) => /theme/i.test(b.textContent)) ?? null)
    if (!this.expect(button.asElement(), 'no button for the theme')) return
    const colours = [await colour()]
    for (let i = 0; i < 2; i++) {
      await button.asElement().focus()
      await this.press('Enter')
      colours.push(await colour())
    }
    this.expect(new Set(colours).size === 2, `the theme has the backgrounds ${colours}`)
    await this.open(this.start)
    this.expect(await colour() === colours[2], 'the theme is not kept')
  }
}
