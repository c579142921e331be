// SPDX-License-Identifier: BSD-2-Clause
// Pages with one fault each: the crawl must name it. So a crawl that finds nothing is one
// that looked.
import { createServer } from 'node:http'
import { once } from 'node:events'

import { Crawl } from './crawl.mjs'

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:"
const FAULTS = {
  script: ['<script>window.__pwned = 1</script>', /policy: script-src-elem blocked inline/],
  handler: ['<img alt="x" src="x.png" onerror="window.__pwned=2"/>', /a handler onerror/],
  style: ['<p style="color:red">styled</p>', /policy: style-src-attr blocked inline/],
  outside: ['<img alt="x" src="http://evil.test/x.png"/>', /requested http:\/\/evil\.test/],
  missing: ['<img alt="x" src="none.png"/>', /status 404 for .*none\.png/],
  link: ['<a href="nowhere">nowhere</a>', /status 404 for .*nowhere/],
  scheme: ['<a href="javascript:window.__pwned=3">click</a>', /a link to javascript:/],
  abroad: ['<a href="http://evil.test/">out</a>', /a link to http:\/\/evil\.test/],
  anchor: ['<a href="#nothing">down</a>', /#nothing leads to no element/],
  id: ['<p id="a">1</p><p id="a">2</p>', /two elements have the id a/],
  frame: ['<iframe title="x" src="/"></iframe>', /an element <iframe/],
  form: ['<form action="http://evil.test/"><button>send</button></form>', /from elsewhere: <form/],
  bidi: ['<p>abc\u202edef</p>', /a character U\+202e/],
  control: ['<p>abc\u009bdef</p>', /a character U\+9b/],
  contrast: ['<p class="pale">hardly to be seen</p>', /light .*axe: color-contrast/],
  dark: ['<p class="night">not to be seen at night</p>', /dark .*axe: color-contrast/],
  label: ['<input type="text"/>', /axe: label/],
  nameless: ['<a href="/"></a>', /a link without a name/],
  wide: ['<pre class="wide">wide</pre>', /640 px .* px wide of 640/],
  scripted: ['<p id="filled"></p>', /without scripts/],
  title: ['<nav><a href="title">same</a> <a href="./">same</a></nav>', /title has the title of /],
  pwned: ['<p id="pwned">x</p>', /window\.__pwned is 4/],
  dialog: ['<p id="ask">x</p>', /dialog on .*: alert/],
  error: ['<p id="throw">x</p>', /error in .*thrown/],
  console: ['<p id="console">x</p>', /console of .*complaint/],
}

const STYLE = `body{color:#111;background:#fff}.pale{color:#eee}.wide{width:2000px}.night{color:#222;background:#fff}
@media (prefers-color-scheme:dark){body{color:#eee;background:#111}a{color:#9cf}.night{background:#111}}`
const SCRIPT = `const is = (id) => document.getElementById(id)
if (is('filled')) is('filled').textContent = 'word '.repeat(50) + [...Array(50).keys()].map((i) => 'only' + i).join(' ')
if (is('pwned')) window.__pwned = 4
if (is('ask')) alert('asked')
if (is('console')) console.error('complaint')
if (is('throw')) throw new Error('thrown')`

function pageOf(body) {
  return '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"/><title>Faults</title>' +
    '<meta name="viewport" content="width=device-width"/><link rel="stylesheet" href="style.css"/>' +
    '<link rel="icon" href="data:image/png;base64,"/><script defer="defer" src="app.js"></script></head>' +
    `<body><main><h1>A page with a fault in it</h1><p>Five words and a few more.</p>${body}</main></body></html>`
}

function answer(request, response) {
  const name = request.url.slice(1)
  const send = (type, text) => {
    response.setHeader('content-type', `${type}; charset=utf-8`)
    response.setHeader('content-security-policy', POLICY)
    response.end(text)
  }
  if (name === 'style.css') send('text/css', STYLE)
  else if (name === 'app.js') send('text/javascript', SCRIPT)
  else if (name === '') send('text/html', pageOf(Object.keys(FAULTS).map((key) => `<p><a href="${key}">${key}</a></p>`).join('')))
  else if (name in FAULTS) send('text/html', pageOf(FAULTS[name][0]))
  else {
    response.statusCode = 404
    send('text/html', pageOf('none'))
  }
}

// The names of the faults that a crawl does not find, and what it says of the good page.
export async function findFaults(browser, axe) {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const start = `http://127.0.0.1:${server.address().port}/`
  const { problems } = await new Crawl(browser, start, { limit: 100, axe, narrow: true }).run()
  server.close()
  server.closeAllConnections()
  const missed = Object.entries(FAULTS).filter(([, [, wanted]]) => !problems.some((text) => wanted.test(text)))
  const wrong = problems.filter((text) => !Object.keys(FAULTS).some((key) => text.includes(`${start}${key}`)))
  return {
    faults: Object.keys(FAULTS).length,
    problems: [...missed.map(([key]) => `not found: ${key}`), ...wrong],
    found: problems,
  }
}
