/**
 * Server and agents as child processes, as a service manager runs them: they can be killed, restarted on the same ports and data, and
 * put into network namespaces. From the source, or from the built file that CULVERT_BIN names.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after } from 'node:test';
import { Program } from '../../scripts/quickstart/program.ts';
import { SocketHolder } from '../../scripts/quickstart/socket-holder.ts';
import { Account } from './account.ts';
import { configText, freePorts, type Ports } from './config.ts';
import { Ending, type Ends, inReverse } from './ends.ts';

const ROOT = resolve(import.meta.dirname, '../..');

export interface SpawnOptions {
  /** Added to the server's settings. */
  readonly toml?: string;
  /** Keys for [edge]. */
  readonly edge?: string;
  /** `edge.tls.mode`; self_signed when not given. */
  readonly tls?: string;
  /** Where API and agent listener are; loopback when not given. The first start is on loopback in any case. */
  readonly address?: string;
  /** Network namespace of the server. */
  readonly netns?: string;
  /** Its listening sockets are held by this process, as systemd holds them, and stay open while no server runs. */
  readonly held?: boolean;
  /** Of the server, besides. */
  readonly env?: NodeJS.ProcessEnv;
  /** Never the built file: its main thread runs no script of `--require`. */
  readonly takesPreload?: true;
  /** Another executable of the server than the one under test, for its first start. */
  readonly program?: string | undefined;
}

export interface AgentOptions {
  readonly token?: string;
  readonly netns?: string;
  /** What the agent calls the server; its API's URL when not given. */
  readonly server?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Another executable than the one under test. */
  readonly program?: string | undefined;
}

/** The words before the subcommand. */
export function culvertCommand(netns?: string, built = process.env['CULVERT_BIN']): string[] {
  const program =
    built === undefined || built === ''
      ? [process.execPath, process.env['CULVERT_TEST_PROGRAM'] ?? join(ROOT, 'src/main.ts')]
      : [resolve(built)];
  // `ip netns exec` becomes the program that it runs: signals to the child reach Culvert itself.
  return netns === undefined ? program : ['ip', 'netns', 'exec', netns, ...program];
}

export class SpawnedCulvert {
  readonly folder: string;
  readonly ports: Ports;
  readonly #t: Ends;
  readonly #configFile: string;
  readonly #holder: SocketHolder | undefined;
  readonly #options: SpawnOptions;
  #program: string | undefined;
  #server: Program;
  #account: Account | undefined;
  #token = '';
  #password = '';
  #agents = 0;

  constructor(t: Ends, folder: string, ports: Ports, options: SpawnOptions) {
    this.#t = t;
    this.folder = folder;
    this.ports = ports;
    this.#options = options;
    this.#program = options.program;
    this.#configFile = join(folder, 'server.toml');
    this.#configure('127.0.0.1');
    const { api, http, agents } = ports;
    this.#holder = options.held === true ? new SocketHolder({ api, http, agents }) : undefined;
    t.after(() => this.#holder?.close());
    this.#server = this.#start(undefined);
    t.after(() => this.killServer());
  }

  /** First start: the owner's password, a log-in, a key. Then the server moves to where the options want it. */
  async prepare(): Promise<void> {
    this.#password = await this.#server.printed(/^admin@localhost\n(\S+)$/m);
    this.#account = await this.logIn();
    this.#token = await this.#account.mint();
    const { address, netns } = this.#options;
    if (address === undefined && netns === undefined) return;
    await this.killServer();
    this.#configure(address ?? '127.0.0.1');
    await this.startServer();
  }

  /** A log-in of the owner is good for 15 minutes. */
  logIn(): Promise<Account> {
    return Account.logIn(this.apiUrlOnLoopback, 'admin@localhost', this.#password);
  }

  get server(): Program {
    return this.#server;
  }

  get account(): Account {
    if (this.#account === undefined) throw new Error('the server was not prepared');
    return this.#account;
  }

  /** Of admin@localhost. A log-in from before the server moved is none after it. */
  get password(): string {
    return this.#password;
  }

  get token(): string {
    return this.#token;
  }

  get apiUrlOnLoopback(): string {
    return `http://127.0.0.1:${this.ports.api}`;
  }

  get apiUrl(): string {
    return `http://${this.#options.address ?? '127.0.0.1'}:${this.ports.api}`;
  }

  /** The executable of later starts of the server; undefined: the one under test. */
  useProgram(program: string | undefined): void {
    this.#program = program;
  }

  /** Starts the server again on the same ports and data; resolves when it says that it runs. */
  async startServer(): Promise<void> {
    this.#server = this.#start(this.#options.netns);
    await this.#server.printed(/^culvert \S+ is running$/m);
  }

  /** SIGTERM; resolves with its exit code when it is gone. */
  stopServer(): Promise<number | null> {
    return this.#server.stop();
  }

  /** SIGKILL; resolves when it is gone. */
  async killServer(): Promise<void> {
    this.#server.kill();
    await this.#server.ended();
  }

  /** A `culvert` command with a key, in a folder of its own: `['http', '3000', '--subdomain', 'shop']`. Ended with the test. */
  agent(args: readonly string[], options: AgentOptions = {}): Program {
    const home = join(this.folder, `agent-${++this.#agents}`);
    mkdirSync(home, { mode: 0o700 });
    const agent = new Program({
      command: culvertCommand(options.netns, options.program),
      args: [...args, '--server', options.server ?? this.apiUrl],
      cwd: home,
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        XDG_RUNTIME_DIR: home,
        CULVERT_TOKEN: options.token ?? this.#token,
        ...options.env,
      },
    });
    this.#t.after(async () => {
      agent.kill();
      await agent.ended();
    });
    return agent;
  }

  #configure(address: string): void {
    const { folder, ports } = this;
    const { toml = '', edge = '', tls = 'self_signed' } = this.#options;
    writeFileSync(this.#configFile, configText({ folder, ports, toml, edge, address, tls }));
  }

  #start(netns: string | undefined): Program {
    return new Program({
      command: culvertCommand(netns, this.#options.takesPreload === true ? '' : this.#program),
      args: ['serve', '--config', this.#configFile],
      cwd: this.folder,
      env: {
        PATH: process.env['PATH'],
        HOME: this.folder,
        CULVERT_DIST: process.env['CULVERT_DIST'],
        ...this.#options.env,
      },
      holder: this.#holder,
    });
  }
}

/** Starts a server with an empty data folder and mints a key. */
export async function spawnCulvert(context: Ends, options: SpawnOptions = {}): Promise<SpawnedCulvert> {
  const t = inReverse(context);
  const folder = mkdtempSync(join(tmpdir(), 'culvert-spawned-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const culvert = new SpawnedCulvert(t, folder, await freePorts(), options);
  await culvert.prepare();
  return culvert;
}

/**
 * One server for the tests of a suite, called in its body: started by the first test that asks for it, and ended with the suite, as are its
 * agents. Each test has names of its own there.
 */
export function sharedCulvert(options: SpawnOptions = {}): () => Promise<SpawnedCulvert> {
  return shared((ending) => spawnCulvert(ending, options));
}

/** The same for what else stands on a server. */
export function shared<T>(start: (ending: Ends) => Promise<T>): () => Promise<T> {
  const ending = new Ending();
  after(() => ending.run());
  let started: Promise<T> | undefined;
  return () => (started ??= start(ending));
}
