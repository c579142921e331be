// SPDX-License-Identifier: BSD-2-Clause
// Somebody else's pages against the server: another origin in the same browser, which may
// know the token or not, and a name that leads to the loopback. The browser has opened
// the server's own pages before, so whatever lets it in (a cookie) it has.
import { createServer, request } from 'node:http'
import { once } from 'node:events'

import { shorten } from './chromium.mjs'

async function serveForeign() {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end('<!DOCTYPE html><html lang="en"><title>foreign</title><body><p>foreign</p></body></html>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, url: `http://127.0.0.1:${server.address().port}/` }
}

// In the foreign page: each way to a URL; which of them had something.
async function reach(url) {
  const got = []
  const wait = (fn) => new Promise((done) => {
    fn(done)
    setTimeout(() => done('slow'), 10000)
  })
  for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
    for (const credentials of ['omit', 'include']) {
      try {
        const answer = await fetch(url, { method, credentials })
        got.push(`${method} ${credentials}: status ${answer.status}, ${(await answer.text()).length} bytes`)
      } catch { /* refused */ }
    }
  }
  const elements = [
    ['img', { src: url }], ['script', { src: url }], ['link', { rel: 'stylesheet', href: url }],
    ['video', { src: url }], ['object', { data: url }], ['embed', { src: url }],
  ]
  for (const [name, properties] of elements) {
    const end = await wait((done) => {
      const e = Object.assign(document.createElement(name), properties)
      e.onload = e.onloadeddata = () => done('load')
      e.onerror = () => done('error')
      document.body.append(e)
    })
    if (end === 'load' && !['object', 'embed'].includes(name)) got.push(`<${name}> was loaded`)
  }
  return got
}

function frame(url) {
  return new Promise((done) => {
    const e = document.createElement('iframe')
    e.onload = done
    e.src = url
    document.body.append(e)
    setTimeout(done, 10000)
  })
}

function submit(url) {
  const form = Object.assign(document.createElement('form'), { method: 'POST', action: url })
  document.body.append(form)
  form.submit()
}

// A request as it is given here, not as a browser would make it: the status, the text, and
// the headers.
export function ask(url, { method = 'GET', headers = {}, path } = {}) {
  const at = new URL(url)
  return new Promise((done, failed) => {
    const r = request({
      host: '127.0.0.1', port: at.port, method, path: path ?? at.pathname + at.search, headers,
      agent: false, timeout: 60000,
    }, (response) => {
      let text = ''
      response.setEncoding('latin1')
      response.on('data', (part) => { text += part })
      response.on('end', () => done({ status: response.statusCode, text, headers: response.headers }))
      response.on('error', failed)
    })
    r.on('timeout', () => r.destroy(new Error('no answer in 60 s')))
    r.on('error', failed)
    r.end()
  })
}

export class Attacks {
  // start: the URL that the server gave to its user; pages: URLs of some of its pages,
  // those with a side effect too; marker: a text that stands in its first page.
  constructor(browser, start, { pages, marker }) {
    Object.assign(this, { browser, start, pages, marker, problems: [], refused: 0 })
  }

  check(isRefused, text) {
    if (isRefused) this.refused++
    else this.problems.push(text)
  }

  // Without what makes a URL the user's own: the query, and each long word of the path.
  withoutToken(url) {
    const at = new URL(url)
    at.search = ''
    at.pathname = at.pathname.split('/').filter((part) => !/^[\w-]{16,}$/.test(part)).join('/')
    return at.href
  }

  wrongToken(url) {
    return url.replace(/[\w-]{16,}/, (token) => token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a'))
  }

  async run() {
    const { server, url } = await serveForeign()
    this.foreign = url
    const own = await this.browser.newPage()
    const answer = await own.goto(this.start)
    if (!(await own.content()).includes(this.marker)) this.problems.push(`no "${this.marker}" in the first page`)
    this.checkHeaders(answer)
    const wrong = this.wrongToken(this.start)
    if (wrong === this.start) this.problems.push(`no token in ${this.start}`)
    for (const page of new Set([this.start, ...this.pages, this.withoutToken(this.start)])) await this.fromForeign(page)
    await this.byName()
    await this.byHand()
    const again = await own.goto(this.start)
    this.check(again.status() === 200, `afterwards the first page has the status ${again.status()}`)
    await own.close()
    server.close()
    return { refused: this.refused, problems: this.problems }
  }

  checkHeaders(answer) {
    const headers = answer.headers()
    const policy = headers['content-security-policy'] ?? ''
    const expect = (ok, text) => this.check(ok, `the first page has ${text}`)
    expect(/default-src 'none'/.test(policy), `the policy "${policy}"`)
    expect(!/unsafe|https?:|\*/.test(policy), `a weak policy "${policy}"`)
    expect(/frame-ancestors 'none'/.test(policy), 'no frame-ancestors')
    expect(/base-uri 'none'/.test(policy), 'no base-uri')
    expect(headers['x-content-type-options'] === 'nosniff', 'no nosniff')
    expect(/no-referrer|same-origin/.test(headers['referrer-policy'] ?? ''), 'no referrer-policy')
    expect(/no-store/.test(headers['cache-control'] ?? ''), `cache-control "${headers['cache-control']}"`)
    expect(!('access-control-allow-origin' in headers), 'access-control-allow-origin')
    expect(/charset=utf-8/i.test(headers['content-type'] ?? ''), 'no charset')
  }

  async fromForeign(url) {
    const page = await this.browser.newPage()
    await page.goto(this.foreign)
    for (const text of await page.evaluate(reach, url)) this.check(false, `from another origin, ${shorten(url)}: ${text}`)
    this.refused++
    await page.evaluate(frame, url)
    for (const inner of page.frames().slice(1)) {
      const text = await inner.evaluate(() => document.body?.textContent ?? '').catch(() => '')
      this.check(!text.includes(this.marker), `${shorten(url)} in a frame of another origin shows its page`)
    }
    const posted = page.waitForNavigation({ timeout: 15000 }).catch(() => null)
    await page.evaluate(submit, url)
    const answer = await posted
    this.check(!answer || answer.status() >= 400, `a form of another origin was taken: ${shorten(url)}`)
    await page.close()
  }

  // A name of the attacker's that leads to the loopback, and the other names of it.
  async byName() {
    const { port } = new URL(this.start)
    for (const host of [`rebound.test:${port}`]) {
      const page = await this.browser.newPage()
      const answer = await page.goto(this.start.replace(/\/\/[^/]+/, `//${host}`)).catch(() => null)
      const text = await page.content()
      this.check(answer && answer.status() >= 400 && !text.includes(this.marker),
        `by the name ${host}: status ${answer?.status()}`)
      await page.close()
    }
  }

  async byHand() {
    const host = new URL(this.start).host
    const refuse = async (what, url, options) => {
      const answer = await ask(url, options).catch((error) => ({ status: 0, text: '', error }))
      this.check((answer.status === 0 || answer.status >= 400) && !answer.text.includes(this.marker),
        `${what}: status ${answer.status}`)
      return answer
    }
    const port = host.split(':')[1]
    for (const name of ['evil.test', `evil.test:${port}`, `127.0.0.1.evil.test:${port}`, `0.0.0.0:${port}`, `127.0.0.1:${port}.evil.test`, `evil@127.0.0.1:${port}`]) {
      await refuse(`Host: ${name}`, this.start, { headers: { host: name } })
    }
    for (const origin of ['http://evil.test', 'null', this.foreign.slice(0, -1), `https://${host}`, `http://${host}.evil.test`]) {
      await refuse(`Origin: ${origin}`, this.start, { headers: { host, origin } })
    }
    await refuse('without the token', this.withoutToken(this.start), { headers: { host } })
    await refuse('with a wrong token', this.wrongToken(this.start), { headers: { host } })
    await refuse('a URL of 1 MB', this.start, { headers: { host }, path: `${new URL(this.start).pathname}${'a'.repeat(1 << 20)}` })
    for (const method of ['PUT', 'DELETE', 'TRACE', 'OPTIONS', 'PATCH']) {
      await refuse(method, this.start, { method, headers: { host } })
    }
    for (const path of ['/../../../etc/passwd', '/..%2f..%2fetc/passwd', '//evil.test/', '/%00', '/%']) {
      await refuse(path, this.start, { headers: { host }, path })
      await refuse(`${path} behind the token`, this.start, { headers: { host }, path: new URL(this.start).pathname.replace(/\/[^/]*$/, '') + path })
    }
  }
}
