/** A server of one build with agents of the same build, on a domain that no program knows: programs accept `localhost` names by themselves. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Ends } from '../../test/harness/ends.ts';
import { type SpawnedCulvert, spawnCulvert } from '../../test/harness/spawned.ts';
import type { Program } from '../quickstart/program.ts';
import { type Asked, Messages, type Reply, startProxy, Visitor } from './visitor.ts';

const DOMAIN = 'tunnels.example';
/** The agent prints its advice after the response. */
const ADVICE_MS = 500;

/** What visitors and their programs use. */
export interface Tunnel {
  readonly url: URL;
  /** Public port of a tcp tunnel, on loopback. */
  readonly port: number;
  /** For programs that come by HTTPS: a proxy that knows the public name, and the certificate to trust. */
  readonly proxyUrl: string;
  readonly certFile: string;
  /** The agent's local inspector. */
  readonly inspectorUrl: () => Promise<string>;
  /** `path` may be a full URL of another tunnel. */
  readonly ask: (path: string, asked?: Asked) => Promise<Reply>;
  readonly socket: (path: string, protocols?: readonly string[]) => Messages;
}

export class Stage {
  readonly #culvert: SpawnedCulvert;
  readonly #binary: string;
  readonly #proxyUrl: string;
  readonly #certFile: string;
  readonly #visitor: Visitor;

  private constructor(culvert: SpawnedCulvert, binary: string, proxyUrl: string) {
    this.#culvert = culvert;
    this.#binary = binary;
    this.#proxyUrl = proxyUrl;
    this.#certFile = join(culvert.folder, 'data/certificates/edge.crt');
    this.#visitor = new Visitor(culvert.ports.https, readFileSync(this.#certFile, 'utf8'));
  }

  /** Starts the server of a built executable. */
  static async open(t: Ends, binary: string): Promise<Stage> {
    const edge = `domain = "${DOMAIN}"\npublic_url = "https://{subdomain}.${DOMAIN}"\n`;
    const culvert = await spawnCulvert(t, { program: binary, edge });
    return new Stage(culvert, binary, await startProxy(t, culvert.ports.https));
  }

  /** Starts an agent as a user would, runs `use`, ends the agent. Resolves with what the agent printed. */
  async publish(args: readonly string[], use: (tunnel: Tunnel) => Promise<void>): Promise<Visit> {
    const agent = this.#culvert.agent(args, { program: this.#binary });
    let failure: Error | undefined;
    try {
      await use(this.#tunnel(new URL(await agent.printed(/^((?:https|tcp):\S+)$/m)), agent));
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
    await pause(ADVICE_MS);
    await agent.stop();
    return { failure, output: agent.output };
  }

  #tunnel(url: URL, agent: Program): Tunnel {
    return {
      url,
      port: Number(url.port),
      proxyUrl: this.#proxyUrl,
      certFile: this.#certFile,
      inspectorUrl: () => agent.printed(/(http:\/\/127\.0\.0\.1:40\d\d)/),
      ask: (path, asked) => this.#visitor.ask(new URL(path, url), asked),
      socket: (path, protocols) => new Messages(this.#visitor.socket(new URL(path, url), protocols)),
    };
  }
}

export interface Visit {
  /** Undefined: the program worked. */
  readonly failure: Error | undefined;
  readonly output: string;
}
