/**
 * Labels under the edge's domain that hosts of this server itself stand under: of the API, of the agents' listener and of identity providers.
 * No tunnel can have them. Cookies know no ports (RFC 6265 §8.5): a tunnel under the API's host would get the log-ins of its people.
 */
export interface OwnNames {
  readonly edgeDomain: string;
  readonly agentsHost: string;
  /** Of the API and of identity providers. Asked at each use: providers may change while the server runs. */
  readonly urls: () => ReadonlyArray<string | undefined>;
}

export class OwnLabels {
  readonly #names: OwnNames;
  /** Found for these URLs. */
  #found: { readonly urls: string; readonly labels: ReadonlySet<string> } | undefined;

  constructor(names: OwnNames) {
    this.#names = names;
  }

  has(label: string): boolean {
    return this.all().has(label);
  }

  all(): ReadonlySet<string> {
    const urls = this.#names.urls();
    const key = urls.join(' ');
    if (this.#found?.urls !== key) this.#found = { urls: key, labels: new Set(this.#find(urls)) };
    return this.#found.labels;
  }

  *#find(urls: ReadonlyArray<string | undefined>): Generator<string> {
    const { edgeDomain, agentsHost } = this.#names;
    const suffix = `.${edgeDomain.toLowerCase()}`;
    const hosts = urls.flatMap((url) => (url === undefined ? [] : new URL(url).hostname));
    for (const host of [agentsHost.toLowerCase(), ...hosts]) {
      // Of `a.b.example.com` it is `b`: what is above a host can set its cookies.
      const label = host.endsWith(suffix) ? host.slice(0, -suffix.length).split('.').at(-1) : undefined;
      if (label !== undefined) yield label;
    }
  }
}
