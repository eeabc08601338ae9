/**
 * A store that speaks S3, as much of it as backups need: upload, list, delete, addressed by path. Not the SDK of AWS: see decision record 28.
 * Runs in the thread of backups.
 */
import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, messageOf } from '../../base/errors.ts';
import { sizeText } from '../../base/process/disk-space.ts';
import { BackupError } from './format.ts';
import { amzDate, authorizationOf, type Credentials, escapeStrictly, sha256 } from './sigv4.ts';

export interface S3Options extends Omit<Credentials, 'service'> {
  readonly endpoint: string;
  readonly bucket: string;
  readonly prefix: string;
}

export interface StoredObject {
  /** Without the prefix. */
  readonly name: string;
  readonly size: number;
}

/** What S3 takes in one upload. */
const MAX_UPLOAD = 5 * 1024 ** 3;
const SILENT_MS = 60_000;
const MAX_RESPONSE = 4 * 1024 * 1024;
const TRIES = 3;
const PAUSE_MS = 2_000;
/** Pages of a list have a thousand names. */
const MAX_PAGES = 100;
const EMPTY = sha256('');

interface Call {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly file?: string;
}

export class S3Store {
  readonly #options: S3Options;

  constructor(options: S3Options) {
    this.#options = options;
  }

  /** For logs: `s3://bucket/prefix`. */
  get place(): string {
    return `s3://${this.#options.bucket}/${this.#options.prefix}`;
  }

  /** Uploads a file. The store compares its SHA-256. Throws BackupError with what the store said. */
  async put(name: string, file: string): Promise<void> {
    const { size } = statSync(file);
    if (size > MAX_UPLOAD)
      throw new BackupError(
        `the backup has ${sizeText(size)}, and a store takes ${sizeText(MAX_UPLOAD)} in one upload. Use backup.folder.`,
      );
    await this.#call({ method: 'PUT', url: this.#url(name), file });
  }

  /** All objects whose names begin with the prefix. */
  async list(): Promise<StoredObject[]> {
    const found: StoredObject[] = [];
    let token: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const url = this.#url();
      const query = [
        ['list-type', '2'],
        ['prefix', this.#options.prefix],
        ...(token === undefined ? [] : [['continuation-token', token]]),
      ];
      // Not by searchParams: they write a space as `+`, which stores sign in different ways.
      url.search = query.map((pair) => pair.map(escapeStrictly).join('=')).join('&');
      const text = await this.#call({ method: 'GET', url });
      for (const [, item = ''] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        const key = textIn(item, 'Key') ?? '';
        found.push({ name: key.slice(this.#options.prefix.length), size: Number(textIn(item, 'Size')) });
      }
      token = textIn(text, 'IsTruncated') === 'true' ? textIn(text, 'NextContinuationToken') : undefined;
      if (token === undefined) return found;
    }
    return found;
  }

  async remove(name: string): Promise<void> {
    await this.#call({ method: 'DELETE', url: this.#url(name) });
  }

  #url(name?: string): URL {
    const { endpoint, bucket, prefix } = this.#options;
    const path = name === undefined ? [bucket] : [bucket, ...`${prefix}${name}`.split('/')];
    return new URL(`${endpoint}/${path.map(escapeStrictly).join('/')}`);
  }

  async #call(call: Call): Promise<string> {
    const bodyHash = call.file === undefined ? EMPTY : await hashOf(call.file);
    for (let tries = 1; ; tries++) {
      try {
        return await this.#once(call, bodyHash);
      } catch (error) {
        if (tries === TRIES || !isPassing(error)) throw this.#fault(call, error);
        await sleep(PAUSE_MS * tries);
      }
    }
  }

  async #once({ method, url, file }: Call, bodyHash: string): Promise<string> {
    const signed = { host: url.host, 'x-amz-content-sha256': bodyHash, 'x-amz-date': amzDate(Date.now()) };
    const authorization = authorizationOf(
      { method, url, headers: signed, bodyHash },
      { ...this.#options, service: 's3' },
    );
    const size = file === undefined ? 0 : statSync(file).size;
    const length = method === 'PUT' ? { 'content-length': String(size) } : {};
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const outgoing = send(url, { method, headers: { ...signed, ...length, authorization }, timeout: SILENT_MS });
    outgoing.on('timeout', () =>
      outgoing.destroy(Object.assign(new Error(`no answer for ${SILENT_MS / 1_000} s`), { code: 'ETIMEDOUT' })),
    );
    const response = new Promise<IncomingMessage>((resolve, reject) =>
      outgoing.on('response', resolve).on('error', reject),
    );
    // A store that refuses answers before all is sent: its response says why, and the broken pipe does not.
    const sent = file === undefined ? undefined : pipeline(createReadStream(file), outgoing).catch(() => undefined);
    if (file === undefined) outgoing.end();
    const answer = await response;
    const text = await textOf(answer);
    const status = answer.statusCode ?? 0;
    if (status >= 300) outgoing.destroy();
    await sent;
    if (status >= 200 && status < 300) return text;
    throw new Refusal(status, text);
  }

  #fault({ method, url }: Call, error: unknown): BackupError {
    const { endpoint, bucket } = this.#options;
    const what = method === 'PUT' ? 'upload' : method === 'GET' ? 'list' : 'delete';
    const next = error instanceof Refusal ? error.next : 'Check backup.s3.endpoint and the network.';
    const where = `${endpoint}, bucket ${bucket}${method === 'GET' ? '' : `, ${decodeURIComponent(url.pathname)}`}`;
    return new BackupError(`the store refused to ${what} (${where}): ${messageOf(error)}. ${next}`, { cause: error });
  }
}

/** A response that is an error. */
class Refusal extends Error {
  readonly status: number;
  readonly next: string;

  constructor(status: number, text: string) {
    const code = textIn(text, 'Code');
    const message = textIn(text, 'Message');
    super([String(status), code, message].filter((part) => part !== undefined).join(' '));
    this.status = status;
    this.next = adviceFor(status, code);
  }
}

function adviceFor(status: number, code: string | undefined): string {
  if (code === 'NoSuchBucket') return 'Create the bucket, or correct backup.s3.bucket.';
  if (code === 'RequestTimeTooSkewed') return 'Set the clock of this machine.';
  if (status === 301 || status === 307 || code === 'AuthorizationHeaderMalformed')
    return 'Correct backup.s3.endpoint and backup.s3.region.';
  if (status === 403) return 'Check the two key files, and that the key may list, write and delete in this bucket.';
  return 'Check [backup.s3], or ask the provider of the store.';
}

/** Worth another try: the store was busy, or the connection broke. */
function isPassing(error: unknown): boolean {
  if (error instanceof Refusal) return error.status >= 500 || error.status === 429;
  return /^(ECONNRESET|ECONNREFUSED|EPIPE|ETIMEDOUT|EAI_AGAIN)$/.test(codeOf(error) ?? '');
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE) throw new Error(`the response is longer than ${sizeText(MAX_RESPONSE)}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The text of the first element of that name. The responses of S3 need no more than this. */
function textIn(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text?.replaceAll(/&(#\d+|#x[\da-fA-F]+|\w+);/g, (whole, entity: string) => {
    if (!entity.startsWith('#')) return ENTITIES[entity] ?? whole;
    return String.fromCodePoint(Number(entity.slice(1).replace(/^x/, '0x')));
  });
}
