// SPDX-License-Identifier: BSD-2-Clause
// A headless Chromium, and pages in it of which everything is noted that a page of
// heapinspect must not do.
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

// READERS is what scripts/build-readers made. No name leads out of this machine:
// "rebound.test" leads to its loopback, as a name does whose owner attacks what listens
// there, and all others lead nowhere.
export async function openChromium(readers) {
  const require = createRequire(resolve(readers, 'package.json'))
  const { default: puppeteer } = await import(pathToFileURL(require.resolve('puppeteer-core')))
  return puppeteer.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      ...(process.getuid() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu', '--disable-extensions', '--disable-background-networking',
      '--host-resolver-rules=MAP rebound.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    ],
    protocolTimeout: 300000,
  })
}

export function readAxe(readers) {
  const require = createRequire(resolve(readers, 'package.json'))
  return require('axe-core').source
}

// Before any script of the page: violations of its policy become lines of the console.
function tellViolations() {
  window.addEventListener('securitypolicyviolation', (e) =>
    console.error(`policy: ${e.effectiveDirective} blocked ${e.blockedURI} ${e.sample}`))
}

// Hears what goes wrong; `problem` is called with a line about each. `isOurs` says of the
// URL of a request whether the page may make it; `mayFail`, whether an error is the right
// answer.
export async function listen(page, { problem, isOurs, mayFail = () => false }) {
  const at = () => shorten(page.url())
  page.on('console', (message) => {
    const text = message.text()
    // Told as a status, too.
    if (text.startsWith('Failed to load resource')) return
    if (['error', 'warn', 'warning', 'assert'].includes(message.type())) {
      problem(`console of ${at()}: ${text}`)
    }
  })
  page.on('pageerror', (error) => problem(`error in ${at()}: ${error.message}`))
  page.on('dialog', async (dialog) => {
    problem(`dialog on ${at()}: ${dialog.type()} ${dialog.message()}`)
    await dialog.dismiss()
  })
  page.on('popup', () => problem(`${at()} opened a window`))
  page.on('request', (request) => {
    if (!isOurs(request.url())) problem(`${at()} requested ${shorten(request.url())}`)
  })
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText
    if (why !== 'net::ERR_ABORTED') problem(`${at()}: failed: ${shorten(request.url())}: ${why}`)
  })
  page.on('response', (response) => {
    // Chromium asks for it by itself, now and then; it is no page, and has no token.
    const isIcon = new URL(response.url()).pathname === '/favicon.ico'
    if (response.status() >= 400 && !isIcon && !mayFail(response.url())) {
      problem(`status ${response.status()} for ${shorten(response.url())} on ${at()}`)
    }
  })
  await page.evaluateOnNewDocument(tellViolations)
}

export function shorten(text) {
  return text.length <= 160 ? text : `${text.slice(0, 120)}…${text.slice(-30)} (${text.length})`
}

// Several look at one page in turns: light, dark, wide, narrow.
export async function look(page, { scheme = 'light', width = 1280, height = 800 }) {
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
  await page.setViewport({ width, height })
}

// Until the page, which has scripts and is in front, has seen its new size.
export async function settle(page) {
  await page.evaluate(() => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(done))
    setTimeout(done, 2000)
  }))
}
