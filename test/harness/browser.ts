/**
 * A browser for tests: keeps cookies per host and port, follows redirects, sends forms. Stops at the first redirect that `until` names, or
 * at the first answer that is none.
 */
import assert from 'node:assert/strict';

/** More redirects than any honest flow has. */
const MAX_HOPS = 15;

export interface Page {
  /** Where the browser is, or, after `until`, where it was about to go. */
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface BrowserRequest {
  readonly method?: string;
  readonly headers: Record<string, string>;
  readonly body?: URLSearchParams;
  readonly redirect: 'manual';
}

export class Browser {
  /** By `host:port`, then by name. Expired ones are gone. */
  readonly #jars = new Map<string, Map<string, string>>();

  /** Told of each Set-Cookie line. */
  onCookie: (line: string) => void = () => {};

  /** Names of the cookies that go to this address. */
  cookies(url: string): ReadonlyMap<string, string> {
    return this.#jar(new URL(url));
  }

  /** Puts a cookie there, as a page of the same host might. */
  setCookie(url: string, name: string, value: string): void {
    this.#jar(new URL(url)).set(name, value);
  }

  async open(start: string | URL, until: (next: URL) => boolean = () => false, form?: URLSearchParams): Promise<Page> {
    let url = new URL(start);
    let body = form;
    for (let hop = 0; hop < MAX_HOPS; hop++) {
      const response = await this.request(url, body);
      const { status, headers } = response;
      const location = headers.get('location');
      if (status < 300 || status > 399 || location === null)
        return { url, status, headers, text: await response.text() };
      await response.body?.cancel();
      url = new URL(location, url);
      body = undefined;
      if (until(url)) return { url, status, headers, text: '' };
    }
    return assert.fail(`more than ${MAX_HOPS} redirects, the last to ${url.href}`);
  }

  /** One request with the cookies of its host; redirects are not followed. */
  async request(url: URL, form?: URLSearchParams): Promise<Response> {
    const jar = this.#jar(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await this.send(url, {
      redirect: 'manual',
      headers: cookie === '' ? {} : { cookie },
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      this.onCookie(line);
      const [pair = '', ...attributes] = line.split(/;\s*/);
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      const ended = attributes.some((one) => /^max-age=0$/i.test(one) || isPast(/^expires=(.*)/i.exec(one)?.[1]));
      if (ended) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Another way to other hosts, in a subclass. */
  protected send(url: URL, init: BrowserRequest): Promise<Response> {
    return fetch(url, init);
  }

  #jar({ host }: URL): Map<string, string> {
    const jar = this.#jars.get(host) ?? new Map<string, string>();
    this.#jars.set(host, jar);
    return jar;
  }
}

function isPast(date: string | undefined): boolean {
  return date !== undefined && Date.parse(date) <= Date.now();
}
