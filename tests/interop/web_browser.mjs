// SPDX-License-Identifier: BSD-2-Clause
// Pages in Chromium: no violation of a policy, no error, no finding of axe-core, and what
// keys and clicks do.
//
//	node web_browser.mjs READERS CHROMIUM FILE
//
// FILE has the pages of tests/report/html_sample.h, with the sections summary, types,
// retained, leaks and object.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [readers, chromium, file] = process.argv.slice(2)
const require = createRequire(resolve(readers, 'package.json'))
const { default: puppeteer } = await import(pathToFileURL(require.resolve('puppeteer-core')))
const axe = require('axe-core').source
const url = pathToFileURL(file).href
const complaints = []

// Only against hanging: everything here waits for what is to come, not for a time.
const PATIENCE_MS = 300_000
const browser = await puppeteer.launch({
  executablePath: chromium, args: ['--no-sandbox'],
  timeout: PATIENCE_MS, protocolTimeout: PATIENCE_MS,
})

async function open(address, settings = {}) {
  const page = await browser.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  page.on('console', (m) => complaints.push(`${m.type()}: ${m.text()}`))
  page.on('pageerror', (e) => complaints.push(`error: ${e.message}`))
  page.on('request', (r) => r.url().startsWith(url) || complaints.push(`asks for ${r.url()}`))
  await page.evaluateOnNewDocument(() => {
    window.violations = []
    addEventListener('securitypolicyviolation',
      (e) => window.violations.push(`${e.violatedDirective} ${e.blockedURI}`))
  })
  await page.setJavaScriptEnabled(settings.script ?? true)
  await page.setViewport({ width: settings.width ?? 1280, height: 900 })
  await page.emulateMediaFeatures(
    [{ name: 'prefers-color-scheme', value: settings.dark ? 'dark' : 'light' }])
  await page.goto(url + address)
  return page
}

// Until it is so: the browser answers a click or a key before the page hears of the new
// address. What it is at last is compared, so that the assertion tells it.
async function becomes(look, wanted) {
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    const seen = await look()
    try {
      return assert.deepEqual(seen, wanted)
    } catch (error) {
      if (Date.now() > end) throw error
    }
    await new Promise((done) => setTimeout(done, 20))
  }
}

const shown = (page) => page.$$eval('main > section',
  (all) => all.filter((s) => s.getClientRects().length > 0).map((s) => s.id))
const focused = (page) => page.evaluate(() => document.activeElement.closest('tr')?.rowIndex
  ?? document.activeElement.localName)
const rowsOf = (page, k) => page.$$eval('#summary table:first-of-type', ([table], at) =>
  [...table.tBodies[0].rows].filter((r) => !r.hidden).map((r) => r.cells[at].textContent), k)

async function checkAccess(settings) {
  const page = await open('#types', settings)
  await becomes(() => shown(page), ['types'])
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  assert(wide <= 0, `the page is ${wide} px wider than a window of ${settings.width} px`)
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, { resultTypes: ['violations'] }))
  const told = violations.map((v) => `${v.id}: ${v.nodes[0].html} ${v.nodes[0].failureSummary}`)
  assert.deepEqual(told, [], JSON.stringify(settings))
  assert.deepEqual(await page.evaluate(() => window.violations), [])
  assert.equal(await page.evaluate(() => window.bad), undefined)
  await page.close()
}

async function checkWithoutScript() {
  const page = await open('', { script: false })
  const visible = async () => {
    const found = []
    for (const section of await page.$$('main > section')) {
      if (await section.boundingBox()) found.push(await (await section.getProperty('id')).jsonValue())
    }
    return found
  }
  // The others are packed, which it says.
  assert.deepEqual(await visible(), ['summary'])
  assert(await (await page.$('noscript p')).boundingBox())
  await page.close()
}

async function checkPages() {
  const page = await open('')
  const title = await page.title()
  assert.deepEqual(await shown(page), ['summary'])
  await page.click('nav a[href="#leaks"]')
  await becomes(() => shown(page), ['leaks'])
  await becomes(() => focused(page), 'h1')
  assert(await page.$('nav a[href="#leaks"][aria-current="page"]'))
  assert.notEqual(await page.title(), title)
  await page.goBack()
  await becomes(() => shown(page), ['summary'])
  await page.keyboard.press('g')
  await page.keyboard.press('t')
  await becomes(() => shown(page), ['types'])
  await page.keyboard.press('u')
  await becomes(() => shown(page), ['summary'])
  await page.close()
}

async function checkTables() {
  const page = await open('')
  const before = await rowsOf(page, 3)
  await page.click('#summary th:nth-child(4) button')
  const bytes = (await rowsOf(page, 3)).map((t) => t.trim())
  assert.deepEqual(bytes.slice(0, 3), ['96.0 MiB', '48.0 MiB', '24.0 MiB'])
  assert.equal(bytes.at(-1), '?')
  assert(await page.$('#summary th:nth-child(4)[aria-sort="descending"]'))
  await page.keyboard.press('Enter')
  assert.notDeepEqual(await rowsOf(page, 3), bytes)
  await page.keyboard.press('Enter')
  assert.deepEqual(await rowsOf(page, 3), before)
  await page.evaluate(() => document.activeElement.blur())
  await page.keyboard.press('/')
  await page.keyboard.type('dictEntry')
  assert.equal((await rowsOf(page, 0)).length, 4)
  assert.equal(await page.$eval('#summary output', (o) => o.textContent), '4 of 20 rows')
  await page.keyboard.press('Escape')
  assert.equal((await rowsOf(page, 0)).length, 20)
  await page.keyboard.press('j')
  await page.keyboard.press('ArrowDown')
  assert.equal(await focused(page), 2)
  await page.keyboard.press('k')
  assert.equal(await focused(page), 1)
  await page.keyboard.press('Enter')
  await becomes(() => shown(page), ['types'])
  await page.close()
}

async function checkDialog() {
  const page = await open('')
  await page.keyboard.press('?')
  assert(await page.$('dialog[open]'))
  await page.keyboard.press('j') // is for the dialog, not for what is behind it
  assert.notEqual(typeof await focused(page), 'number')
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => globalThis.axe.run(document))
  assert.deepEqual(violations.map((v) => v.id), [])
  await page.keyboard.press('Escape')
  assert.equal(await page.$('dialog[open]'), null)
  await page.click('header button:nth-of-type(2)')
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light')
  await page.close()
}

async function checkPictures() {
  const page = await open('')
  const widths = () => page.$$eval('#summary .flame .node', (all) => all
    .filter((n) => n.getAttribute('display') !== 'none')
    .map((n) => Number(n.querySelector('rect').getAttribute('width'))))
  const before = await widths()
  const second = (await page.$$('#summary .flame .node'))[1]
  await second.hover()
  assert.match(await page.$eval('.tip', (t) => t.textContent), /<script>window.bad=1/)
  await second.click()
  const zoomed = await widths()
  assert.equal(zoomed.length, 5) // all, the node and three in it
  assert(zoomed[1] > before[1] * 8)
  assert.deepEqual(await shown(page), ['summary'])
  await page.keyboard.press('Escape')
  assert.deepEqual(await widths(), before)
  for (const kind of ['treemap', 'flame', 'bands']) {
    const stops = await page.$$eval(`#summary .${kind} svg [tabindex="0"]`, (all) => all.length)
    assert.equal(stops, 1, kind)
  }
  await page.$eval('#summary .treemap [tabindex="0"]', (node) => node.focus())
  const at = () => page.evaluate(() => document.activeElement.getAttribute('aria-label'))
  const first = await at()
  await page.keyboard.press('ArrowRight')
  assert.notEqual(await at(), first)
  await page.close()
}

async function checkPrint() {
  const page = await open('#leaks')
  await becomes(() => shown(page), ['leaks'])
  await page.emulateMediaType('print')
  assert.deepEqual(await shown(page), ['leaks'])
  assert.equal(await page.$eval('nav', (nav) => nav.getClientRects().length), 0)
  await page.close()
}

try {
  await checkAccess({ width: 1280, dark: false })
  await checkAccess({ width: 640, dark: true })
  await checkWithoutScript()
  await checkPages()
  await checkTables()
  await checkDialog()
  await checkPictures()
  await checkPrint()
  assert.deepEqual(complaints, [])
  console.log('fine')
} finally {
  await browser.close()
}
