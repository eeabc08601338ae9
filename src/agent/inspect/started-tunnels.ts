/**
 * Tunnels that programs start and stop by `POST` and `DELETE /api/tunnels`, in ngrok's shape. What a program asks for and the agent can't do is
 * refused, so that no tunnel is open that was meant to have a password. The agent's other tunnels can be stopped here, too, but for the last.
 */
import type { AgentEvent } from '../events.ts';
import { parseTarget, TargetError } from '../local/target.ts';
import type { TunnelSpec } from '../tunnel.ts';

/** As in settings files. */
const NAME = /^[A-Za-z0-9._-]{1,63}$/;
const PROTOCOLS = ['http', 'https', 'tcp'] as const;
/** What this API knows, and what it may leave out without a visitor who notices: every URL has HTTP and HTTPS as the server has it. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['name', 'addr', 'proto', 'subdomain', 'inspect'],
  ...['bind_tls', 'schemes', 'metadata'],
]);
/** Until the server has said yes or no. */
const START_MS = 30_000;

export interface StartRefusal {
  readonly status: 400 | 404 | 409 | 502;
  readonly text: string;
}

/** The agent, as far as its tunnels change; made by cli/agent/run-agent.ts. */
export interface TunnelList {
  /** Of all tunnels that the agent has now; `others`: of its networks. */
  readonly names: readonly string[];
  readonly others: readonly string[];
  /** @throws RangeError when it has too many */
  add(spec: TunnelSpec): void;
  remove(name: string): void;
}

export class StartedTunnels {
  readonly #list: TunnelList;
  readonly #waiting = new Map<string, (refusal: StartRefusal | undefined) => void>();

  constructor(list: TunnelList) {
    this.#list = list;
  }

  /** Resolves when the tunnel is live (undefined), or with why it is not: then nothing of it stays. */
  async start(body: unknown): Promise<{ readonly name: string } | StartRefusal> {
    const spec = specOf(body);
    if ('status' in spec) return spec;
    const { name } = spec;
    if ([...this.#list.names, ...this.#list.others].includes(name))
      return { status: 400, text: `the tunnel "${name}" exists already` };
    const { promise, resolve } = Promise.withResolvers<StartRefusal | undefined>();
    this.#waiting.set(name, resolve);
    const late = { status: 502, text: `the server did not start the tunnel within ${START_MS / 1_000} s` } as const;
    const timer = setTimeout(() => resolve(late), START_MS);
    try {
      this.#list.add(spec);
      const refusal = await promise;
      if (refusal === undefined) return { name };
      this.#list.remove(name);
      return refusal;
    } catch (error) {
      if (error instanceof RangeError) return { status: 400, text: error.message };
      throw error;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(name);
    }
  }

  /** Undefined: it is stopped. */
  stop(name: string): StartRefusal | undefined {
    const { names, others } = this.#list;
    if (!names.includes(name)) return { status: 404, text: 'no running tunnel has this name' };
    if (names.length + others.length === 1)
      return { status: 409, text: 'this is the only tunnel of the agent: stop the agent' };
    this.#list.remove(name);
    return undefined;
  }

  onEvent(event: AgentEvent): void {
    if (event.kind === 'tunnel_online') this.#waiting.get(event.tunnel.name)?.(undefined);
    if (event.kind !== 'tunnel_refused' || !event.final) return;
    this.#waiting.get(event.tunnel.name)?.({ status: 502, text: event.message });
  }
}

function specOf(body: unknown): TunnelSpec | StartRefusal {
  const asked = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>;
  const refuse = (text: string): StartRefusal => ({ status: 400, text });
  const unknown = Object.keys(asked).find((key) => !KNOWN.has(key));
  if (unknown !== undefined) {
    return refuse(
      `"${unknown}" is not supported here. Put the tunnel into a settings file, or use culvert http --help`,
    );
  }
  const { name, addr, proto = 'http', subdomain, inspect = true } = asked;
  if (typeof name !== 'string' || !NAME.test(name))
    return refuse('"name" must have 1 to 63 letters, digits, ".", "_", "-"');
  const protocol = PROTOCOLS.find((known) => known === proto);
  if (protocol === undefined) return refuse(`"proto" must be ${PROTOCOLS.join(', ')}`);
  if (subdomain !== undefined && typeof subdomain !== 'string') return refuse('"subdomain" must be a text');
  if (typeof inspect !== 'boolean' && inspect !== 'true' && inspect !== 'false')
    return refuse('"inspect" must be true or false');
  const text = typeof addr === 'number' ? String(addr) : addr;
  if (typeof text !== 'string') return refuse('"addr" must be a port, host:port or a URL');
  // Other users of this machine can reach this API: they get no files or sockets of this user.
  if (/^(?:file|unix):/i.test(text.trim())) return refuse('"addr" must be a port, host:port or a URL');
  try {
    const found = parseTarget(text, protocol);
    return { ...found, name, subdomain, inspect: inspect === true || inspect === 'true' };
  } catch (error) {
    if (error instanceof TargetError) return refuse(error.message);
    throw error;
  }
}
