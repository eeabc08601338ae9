/**
 * What all commands do alike that manage tokens, projects and tunnels by the REST API: who asks (the person who logged in, or a master key for
 * the keys of a project), one call, and what an exit code says about a refusal.
 */
import { z } from 'zod';
import { messageOf } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import { DEFAULT_SERVER, loadAgentConfig } from '../../config/agent.ts';
import type { Outbound } from '../../base/net/outbound/outbound.ts';
import { outboundOf } from './outbound.ts';
import { serverOf } from './server-here.ts';
import { Credentials, serverName } from '../../config/credentials.ts';
import { type ApiAnswer, callApi, complaint } from './api-call.ts';
import type { CommandBody, Invocation } from '../terminal/command.ts';
import { EXIT, ExitError, usageError } from '../terminal/exit.ts';
import { textFlag } from '../terminal/flags.ts';
import { hasColor, type Io, print, writeLine } from '../terminal/io.ts';
import { isMasterKey } from './key-kind.ts';
import { harmless, jsonText, type Span } from '../terminal/paint.ts';
import { plainHttpWarning } from './plain-http.ts';
import { notLoggedIn, openSession } from './session.ts';
import { tableLines } from '../terminal/table.ts';
import { loginCommand, readKey } from './token.ts';

const TIMEOUT_MS = 30_000;
/** 10,000 tunnels are 5 MB; the longest list of 1,000 tokens is 7 MB. */
const MAX_LIST_BYTES = 32 * 1024 * 1024;

const problem = z.object({ details: z.array(z.object({ path: z.string(), message: z.string() })) });

/** What such a command has to work with. */
export interface Asked extends Invocation {
  readonly io: Io;
  readonly server: URL;
  /** The way to it. */
  readonly outbound: Outbound;
  /** Asks by a master key; else a person asks. */
  readonly isMaster: boolean;
  /** One call. @throws ExitError when the server refuses, Error when it does not answer. */
  call(method: string, path: string, body?: object): Promise<unknown>;
  /** One call whose refusal is an answer, too. @throws Error when the server does not answer. */
  answerTo(method: string, path: string, body?: object): Promise<ApiAnswer>;
  /** A GET whose answer is no JSON: its bytes, one per character (latin1). Throws as `call`. */
  bytes(path: string): Promise<string>;
  /** A GET of a list, as far as one answer goes, and the query of the next (`?…`). Throws as `call`. */
  page(path: string): Promise<Pick<ApiAnswer, 'body' | 'headers' | 'next'>>;
  /** An access token of the person, for what is no call. @throws ExitError when the login has ended. */
  accessToken(): Promise<string>;
}

export interface Managing {
  /** The command also works for a master key, which needs the project's name. */
  readonly takesMasterKey?: boolean;
}

/** A command that asks a server's API. */
export function apiCommand(work: (asked: Asked) => Promise<void>, options: Managing = {}): CommandBody {
  return async (io, invocation) => {
    const { server, masterKey } = await askerOf(io, invocation, options.takesMasterKey === true);
    const warning = plainHttpWarning(server);
    if (warning !== undefined) writeLine(io.stderr, warning);
    const isMaster = masterKey !== undefined;
    const outbound = outboundOf(io, invocation.flags);
    const person = new Person(io, server, outbound);
    const answerTo = async (method: string, path: string, body?: object): Promise<ApiAnswer> => {
      const ask = (bearer: string): Promise<ApiAnswer> => callWith(server, { method, path, body, bearer, outbound });
      const asked = isMaster ? ask(masterKey) : person.ask(ask);
      return asked.catch((error: unknown) => {
        throw unreached(server, error);
      });
    };
    const answerOf: typeof answerTo = async (...question) => {
      const answer = await answerTo(...question);
      if (answer.status >= 200 && answer.status < 300) return answer;
      throw refusal(server, answer, isMaster);
    };
    const call: Asked['call'] = async (...question) => (await answerOf(...question)).body;
    const page: Asked['page'] = (path) => answerOf('GET', path);
    const bytes: Asked['bytes'] = async (path) => (await answerOf('GET', path)).bytes;
    try {
      const calls = { call, answerTo, bytes, page, accessToken: () => person.freshToken() };
      await work({ ...invocation, io, server, outbound, isMaster, ...calls });
      return EXIT.ok;
    } catch (cause) {
      if (!(cause instanceof z.ZodError)) throw cause;
      const text = `${server.host} sent an unknown response. Is the server older than this program?`;
      throw new ExitError(EXIT.failure, text, { cause });
    }
  };
}

/** The person's access token: asked for at the first call, and once more when it ran out meanwhile, as behind a question that waited. */
class Person {
  readonly #io: Io;
  readonly #server: URL;
  readonly #outbound: Outbound;
  readonly #credentials: Credentials;
  #token: Secret | undefined;

  constructor(io: Io, server: URL, outbound: Outbound) {
    this.#io = io;
    this.#server = server;
    this.#outbound = outbound;
    this.#credentials = new Credentials(io.env);
  }

  async ask(work: (bearer: string) => Promise<ApiAnswer>): Promise<ApiAnswer> {
    const isFresh = this.#token === undefined;
    const answer = await work(await this.#bearer());
    if (answer.status !== 401 || isFresh) return answer;
    this.#token = undefined;
    return work(await this.#bearer());
  }

  /** One that lives for its 15 minutes from now. */
  freshToken(): Promise<string> {
    this.#token = undefined;
    return this.#bearer();
  }

  async #bearer(): Promise<string> {
    this.#token ??= await openSession(this.#io, this.#server, {
      credentials: this.#credentials,
      outbound: this.#outbound,
    });
    return this.#token.reveal();
  }
}

interface Asker {
  readonly server: URL;
  /** Undefined when a person asks. */
  readonly masterKey: string | undefined;
}

/**
 * The credential and the server of a command. An agent's key and its server are ignored after a login, unless the command line names them, because
 * such keys lie on every machine with an agent. @throws ExitError (not authorized) when neither person nor key can ask.
 */
async function askerOf(io: Io, { flags }: Invocation, takesMasterKey: boolean): Promise<Asker> {
  const named = { server: textFlag(flags, 'server') };
  const credentials = new Credentials(io.env);
  const server = await serverOf(io, named);
  const person = credentials.of(server) === undefined ? undefined : { server, masterKey: undefined };
  const project = textFlag(flags, 'project');
  const isWanted = takesMasterKey && project !== undefined;
  const tokenFile = textFlag(flags, 'tokenFile');
  if (person !== undefined && !isWanted && tokenFile === undefined) return person;
  const settings = loadAgentConfig({ flags: { ...named, tokenFile }, env: io.env, cwd: io.cwd });
  const { token } = settings;
  if (token === undefined || token.kind === 'login') {
    if (person !== undefined) return person;
    const { message } = notLoggedIn(server, credentials);
    const way = isWanted ? '. In a job without a login, pass a master key with CULVERT_TOKEN or --token-file' : '';
    throw new ExitError(EXIT.unauthorized, message + way);
  }
  const { text } = await readKey(settings, io.env);
  const isMaster = isMasterKey(text);
  if (isMaster && isWanted) return { server: settings.server, masterKey: text };
  if (person !== undefined && tokenFile === undefined) return person;
  const why = isMaster
    ? 'a master key only creates, rotates and revokes keys of a project. Name it with --project SLUG'
    : `the key in ${token.kind === 'environment' ? token.variable : token.namedBy} only opens tunnels`;
  throw new ExitError(EXIT.unauthorized, `${why}. For other commands: ${notLoggedIn(server, credentials).message}`);
}

/** Who named no server may not know which one did not answer. */
function unreached(server: URL, error: unknown): unknown {
  if (error instanceof ExitError || serverName(server) !== DEFAULT_SERVER) return error;
  const text = `${messageOf(error)}. To use another server, set --server or CULVERT_SERVER`;
  return new Error(text, { cause: error });
}

interface Question {
  readonly method: string;
  readonly path: string;
  readonly body: object | undefined;
  readonly bearer: string;
  readonly outbound: Outbound;
}

function callWith(server: URL, { method, path, body, bearer, outbound }: Question): Promise<ApiAnswer> {
  return callApi(server, {
    method,
    path,
    outbound,
    headers: { authorization: `Bearer ${bearer}` },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_LIST_BYTES,
    ...(body === undefined ? {} : { body }),
  });
}

/** What a command says and ends with that the server has refused. */
export function refusal(server: URL, answer: ApiAnswer, isMaster: boolean): ExitError {
  const said = harmless([complaint(answer), detailsOf(answer).join('; ')].join(' ').trim());
  switch (answer.status) {
    case 400:
      return usageError(said);
    case 401:
      return new ExitError(EXIT.unauthorized, isMaster ? said : `${said} Run ${loginCommand(server)}`);
    case 403:
      return new ExitError(EXIT.unauthorized, said);
    case 402:
    case 409:
      return new ExitError(EXIT.refused, said);
    default:
      if (answer.status < 300 || answer.status >= 400) return new ExitError(EXIT.failure, said);
      return usageError(`${server.host} redirects. Use the final URL with --server`);
  }
}

/** What is wrong with single fields, where the message does not say so already. */
function detailsOf(answer: ApiAnswer): string[] {
  const found = problem.safeParse(answer.body);
  if (!found.success) return [];
  const message = complaint(answer);
  return found.data.details
    .filter((detail) => !message.includes(detail.message))
    .map(({ path, message }) => `${path}: ${message}`);
}

/** Prints what the server sent: as it is with `--json`, else as a table of these columns. */
export async function printRows<Row>(
  { io, flags }: Asked,
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => string | Span>>,
): Promise<void> {
  if (flags['json'] === true) return print(io.stdout, jsonText(rows));
  const cells = rows.map((row) => Object.values(columns).map((cell) => cell(row)));
  const color = hasColor(io.stdout, io.env);
  await print(io.stdout, tableLines(Object.keys(columns), cells, color).join('\n'));
}

/** With `--json` the answer on standard output, else a sentence for people. */
export async function printDone({ io, flags }: Asked, answer: unknown, sentence: string): Promise<void> {
  await print(io.stdout, flags['json'] === true ? jsonText(answer) : harmless(sentence));
}
