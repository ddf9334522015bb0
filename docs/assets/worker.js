// Browsers do not start workers for pages that were opened from a folder. This one runs in a hidden frame instead, so that
// the search works there, too. Over HTTP the browser's own workers are used.
(function () {
  "use strict";
  if (location.protocol !== "file:") return;

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "<!doctype html><title>worker</title>";
      this.ready = new Promise((started) => {
        frame.addEventListener("load", () => {
          const inside = frame.contentWindow;
          inside.postMessage = (data) => this.say(data);
          inside.importScripts = (...urls) => Promise.all(urls.map((one) => this.load(inside, new URL(one, url))));
          this.load(inside, url).then(() => started(inside));
        }, { once: true });
      });
      const add = () => document.body.append(frame);
      if (document.body) add(); else addEventListener("DOMContentLoaded", add);
    }

    load(inside, url) {
      return new Promise((loaded, failed) => {
        const script = inside.document.createElement("script");
        script.src = url;
        script.onload = loaded;
        script.onerror = failed;
        inside.document.head.append(script);
      });
    }

    say(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {}
  };
})();
