/**
 * Labels under the edge's domain that hosts of this server itself stand under: of the API, of the agents' listener and of identity providers.
 * They are nobody's. Cookies know no ports (RFC 6265 §8.5): a tunnel under the API's host would get the log-ins of its people.
 */
export class OwnLabels {
  readonly #suffix: string;
  readonly #hosts: () => readonly string[];
  #labels: ReadonlySet<string> | undefined;

  /** `hosts`: asked at the first use, for the API's address is not known before its listener is. */
  constructor(edgeDomain: string, hosts: () => readonly string[]) {
    this.#suffix = `.${edgeDomain.toLowerCase()}`;
    this.#hosts = hosts;
  }

  has(label: string): boolean {
    return this.all().has(label);
  }

  all(): ReadonlySet<string> {
    this.#labels ??= new Set(this.#hosts().flatMap((host) => this.#labelOf(host.toLowerCase()) ?? []));
    return this.#labels;
  }

  /** Of `a.b.example.com` it is `b`: what is above a host can set its cookies. */
  #labelOf(host: string): string | undefined {
    return host.endsWith(this.#suffix) ? host.slice(0, -this.#suffix.length).split('.').at(-1) : undefined;
  }
}
