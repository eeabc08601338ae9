/**
 * Serves a folder as a website, for `culvert files` and targets such as `file:///srv/www`. The agent connects to it in memory, as it
 * connects to a service elsewhere, so that everything in between is the same: the inspector, back-pressure, drains.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { codeOf } from '../../base/errors.ts';
import { type Found, findIn } from './find.ts';
import { listingPage } from './listing.ts';
import { acceptedCopies, isCompressible, mediaTypeOf } from './media-type.ts';
import { MemorySocket } from './memory-socket.ts';
import { OpenFiles, type OpenLimits } from './open-files.ts';
import { type FileToSend, sendFile } from './send-file.ts';
import { parseUrlPath, type UrlPath } from './url-path.ts';

export interface FolderOptions {
  /** Absolute. */
  readonly root: string;
  /** A path without a file gets the root's index.html: the page's own script reads the path. */
  readonly spa: boolean;
  /** Folders without an index.html show what they have. */
  readonly listing: boolean;
}

/** Half of what a process may open on most systems, less what the agent itself needs. */
const LIMITS: OpenLimits = { open: 384, waiting: 1_024 };
/** The edge has limits of its own, and adds lines. */
const MAX_HEAD_BYTES = 131_072;
const INDEX = 'index.html';

export class Folder {
  readonly options: FolderOptions;
  readonly #files: OpenFiles;
  /** It listens to nothing: connections are put in. */
  readonly #server: Server;

  constructor(options: FolderOptions, limits: OpenLimits = LIMITS) {
    this.options = options;
    this.#files = new OpenFiles(limits);
    // No limit of its own on idle connections: the edge keeps them for the next request, and closes them.
    const how = { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0, maxHeaderSize: MAX_HEAD_BYTES };
    this.#server = createServer(how, (request, response) => void this.#answer(request, response));
  }

  get root(): string {
    return this.options.root;
  }

  /** A connection to this folder, ready to use. */
  connect(): Socket {
    const { near, far } = MemorySocket.pair();
    this.#server.emit('connection', far);
    return near;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      return refuse(response, 405);
    }
    if (!(await this.#files.take())) return refuse(response, 503);
    try {
      if (!response.destroyed) await this.#find(request, response);
    } catch (error) {
      fail(response, error);
    } finally {
      this.#files.release();
    }
  }

  async #find(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = parseUrlPath(request.url ?? '');
    if (path === 'malformed') return refuse(response, 400);
    if (path === 'unsafe') return refuse(response, 404);
    const { root, spa, listing } = this.options;
    const { names, isFolder, query } = path;
    const found = await findIn(root, names);
    if (found?.stats.isDirectory() === true) {
      if (!isFolder) return redirect(response, `./${encodeURIComponent(names.at(-1) ?? '')}/${query}`);
      if (await this.#send(request, response, [...names, INDEX])) return;
      if (listing && !spa) return sendPage(request, response, await listingPage(root, names, found));
    } else if (found !== undefined && !isFolder && (await this.#send(request, response, names, found))) return;
    if (spa && isPage(request, path) && (await this.#send(request, response, [INDEX]))) return;
    refuse(response, 404);
  }

  /** False: there is no such file. */
  async #send(
    request: IncomingMessage,
    response: ServerResponse,
    names: readonly string[],
    known?: Found,
  ): Promise<boolean> {
    const found = known ?? (await findIn(this.options.root, names));
    if (found?.stats.isFile() !== true) return false;
    return sendFile(request, response, await this.#chosen(request, names, found));
  }

  /** The file, or a compressed copy beside it that is not older. */
  async #chosen(request: IncomingMessage, names: readonly string[], found: Found): Promise<FileToSend> {
    const type = mediaTypeOf(names.at(-1) ?? '');
    const varies = isCompressible(type);
    const accepted = varies ? acceptedCopies(request.headers['accept-encoding']) : [];
    for (const copy of accepted) {
      const other = await findIn(this.options.root, [...names.slice(0, -1), `${names.at(-1)}${copy.ending}`]);
      if (other?.stats.isFile() === true && other.stats.mtimeNs >= found.stats.mtimeNs)
        return { path: other.path, type, copy, varies };
    }
    return { path: found.path, type, varies };
  }
}

/** A page of the app is asked for, and no script or image that it lacks. */
function isPage({ headers }: IncomingMessage, { names }: UrlPath): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '') || !(names.at(-1) ?? '').includes('.');
}

const TEXTS: Readonly<Record<number, string>> = {
  400: 'Bad request: the path is not valid.',
  404: 'Not found: there is no such file.',
  405: 'Method not allowed: these files can only be read.',
  500: 'Internal error: the file could not be read.',
  503: 'Too many files are open. Try again.',
};

function refuse(response: ServerResponse, status: number): void {
  const text = `${TEXTS[status]}\n`;
  if (status === 503) response.setHeader('Retry-After', 1);
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-cache',
  });
  response.end(text);
}

function redirect(response: ServerResponse, location: string): void {
  // Not for good: tomorrow it may be a file.
  response.writeHead(302, { location, 'content-length': 0, 'cache-control': 'no-cache' });
  response.end();
}

function sendPage(request: IncomingMessage, response: ServerResponse, text: string): void {
  const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache',
  });
  response.end(request.method === 'HEAD' ? undefined : text);
}

/** Of a file that can't be read. A visitor that left in the middle is no fault: the response is gone with it. */
function fail(response: ServerResponse, error: unknown): void {
  if (response.destroyed || response.headersSent) return void response.destroy();
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  const code = codeOf(error);
  if (code === 'EACCES' || code === 'EPERM' || code === 'ENOENT' || code === 'ELOOP') return refuse(response, 404);
  refuse(response, code === 'EMFILE' || code === 'ENFILE' ? 503 : 500);
}
