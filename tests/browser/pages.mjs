// SPDX-License-Identifier: BSD-2-Clause
// Pages of heapinspect in a headless Chromium.
//
//	node pages.mjs READERS faults
//	node pages.mjs READERS crawl [OPTION=VALUE...] -- PROGRAM serve FILE...
//	node pages.mjs READERS file [OPTION=VALUE...] -- FILE.html
//	node pages.mjs READERS attack marker=TEXT -- PROGRAM serve FILE...
//	node pages.mjs READERS keys -- PROGRAM serve FILE...
//	node pages.mjs READERS turn -- FILE.svg
//
// limit=N pages at most; often=N pages of each kind at least; axe=no leaves its checks out; pictures=DIRECTORY for screenshots;
// absent=KIND,KIND... may be error pages.
// Prints one document of JSON, with all problems that were found.
import { pathToFileURL } from 'node:url'
import { resolve } from 'node:path'

import { Attacks } from './attacks.mjs'
import { openChromium, readAxe } from './chromium.mjs'
import { Crawl } from './crawl.mjs'
import { findFaults } from './faults.mjs'
import { Keys } from './keys.mjs'
import { startServer } from './server.mjs'
import { turnRound } from './turned.mjs'

const [readers, what, ...rest] = process.argv.slice(2)
const cut = rest.indexOf('--')
const options = Object.fromEntries((cut < 0 ? rest : rest.slice(0, cut)).map((word) => {
  const at = word.indexOf('=')
  return [word.slice(0, at), word.slice(at + 1)]
}))
const words = cut < 0 ? [] : rest.slice(cut + 1)

const axe = options.axe === 'no' ? null : readAxe(readers)
const crawling = { limit: Number(options.limit ?? 400), often: Number(options.often ?? 0), axe, narrow: true,
  pictures: options.pictures, absent: options.absent?.split(',') }

async function withServer(use) {
  const server = await startServer(words)
  try {
    const found = await use(server)
    if (!server.isRunning()) found.problems.push(`the server ended: ${server.said().slice(-300)}`)
    return found
  } finally {
    await server.end()
  }
}

const tasks = {
  faults: (browser) => findFaults(browser, axe),
  crawl: (browser) => withServer((server) => new Crawl(browser, server.url, crawling).run()),
  file: (browser) => new Crawl(browser, pathToFileURL(resolve(words[0])).href, crawling).run(),
  attack: (browser) => withServer(async (server) => {
    const pages = (options.pages ?? '').split(',').filter(Boolean).map((path) => new URL(path, server.url).href)
    return new Attacks(browser, server.url, { pages, marker: options.marker }).run()
  }),
  turn: (browser) => turnRound(browser, pathToFileURL(resolve(words[0])).href),
  keys: (browser) => withServer((server) => new Keys(browser, server.url).run()),
}

const browser = await openChromium(readers)
try {
  console.log(JSON.stringify(await tasks[what](browser), null, 1))
} finally {
  await browser.close()
}
