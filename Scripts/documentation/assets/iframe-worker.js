/*
 * Lets the search work from a file: browsers start no worker there, so an iframe takes its place.
 *
 * After iframe-worker 1.0.4, copyright (c) 2020-2022 Martin Donath <martin.donath@squidfunk.com>, MIT licence
 * (https://github.com/squidfunk/iframe-worker).
 */
class IFrameWorker extends EventTarget {
  constructor(url) {
    super()
    this.iframe = document.createElement("iframe")
    this.iframe.hidden = true
    document.body.appendChild(this.iframe)
    const page = this.iframe.contentWindow.document
    page.open()
    page.write(
      "<html><body><script>" +
      `postMessage = ${function (message, origin) { parent.postMessage(message, origin || "*") }};` +
      `importScripts = ${function (...urls) {
        return urls.reduce((before, url) => before.then(() => new Promise(resolve => {
          const script = document.createElement("script")
          script.src = url
          script.onload = resolve
          document.body.appendChild(script)
        })), Promise.resolve())
      }};` +
      `</script><script src="${url}"></script></body></html>`
    )
    page.close()
    this.ready = new Promise(resolve => { this.iframe.contentWindow.onload = resolve })
    addEventListener("message", event => {
      if (event.source !== this.iframe.contentWindow) return
      this.dispatchEvent(new MessageEvent("message", { data: event.data }))
      if (this.onmessage) this.onmessage(event)
    })
  }

  postMessage(data) {
    this.ready.then(() => this.iframe.contentWindow.dispatchEvent(new MessageEvent("message", { data })))
  }

  terminate() {
    this.iframe.remove()
  }
}

window.IFrameWorker = IFrameWorker
if (location.protocol === "file:") window.Worker = IFrameWorker
