/**
 * Single requests to an ACME authority: to addresses that may be asked, with an end in time and size, redirects not followed. Knows HTTP
 * and nothing of ACME. One is opened per operation and closed with it, so no connection outlives what it is for.
 */
import { readFile } from 'node:fs/promises';
import { request as httpRequest, Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isLoopback } from '../../../base/net/addr.ts';
import { codeOf, messageOf } from '../../../base/errors.ts';
import { buildInfo } from '../../../base/process/version.ts';
import { AcmeError } from './contract.ts';
import { oneLine } from './problem.ts';
import { given } from '../../../base/given.ts';

export interface Reply {
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Question {
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly url: string;
  /** A JWS as JSON. */
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** From dialling to the last byte. Authorities answer in a second, and in ten on a bad day. */
const REQUEST_MS = 30_000;
/** A chain of three certificates has 6 KB, an order of a hundred names 20. */
const MAX_BODY_BYTES = 256 * 1024;
const MAX_URL_LENGTH = 2048;
/** One connection, since questions follow one another. An authority may have dropped it after a silence: a new one is safer then. */
const KEPT = { keepAlive: true, maxSockets: 1, timeout: 10_000 } as const;

export class Transport {
  readonly #plain: boolean;
  readonly #http = new HttpAgent(KEPT);
  readonly #https: HttpsAgent;

  private constructor(plain: boolean, ca: string | undefined) {
    this.#plain = plain;
    this.#https = new HttpsAgent({ ...KEPT, ...given({ ca }) });
  }

  /** `caFile`: PEM of the roots that are trusted instead of the usual ones; read each time, so that it may be replaced. */
  static async open(directoryUrl: string, caFile: string | null): Promise<Transport> {
    let ca: string | undefined;
    if (caFile !== null) {
      try {
        ca = await readFile(caFile, 'utf8');
      } catch (error) {
        throw new AcmeError('network', `acme.ca_file can't be read: ${messageOf(error)}`, { cause: error });
      }
    }
    return new Transport(isPlainLoopback(directoryUrl), ca);
  }

  /**
   * `url`, as it is asked and signed, when it may be. https only, for an attacker who changes answers on the way decides what we prove; an authority
   * on this machine alone may name plain addresses on it.
   */
  check(url: unknown, what: string): string {
    if (typeof url === 'string' && url.length <= MAX_URL_LENGTH && URL.canParse(url)) {
      const { protocol, username, password, href } = new URL(url);
      const isAllowed = protocol === 'https:' || (this.#plain && isPlainLoopback(url));
      if (isAllowed && username === '' && password === '') return href;
    }
    throw new AcmeError('bad_answer', `the authority's ${what} is not an https URL: ${oneLine(String(url))}`);
  }

  /** The answer, whatever its status but a redirect. Throws `network`, `timeout`, `aborted` or `bad_answer`. */
  async ask(question: Question): Promise<Reply> {
    const url = this.check(question.url, 'address');
    const signal = AbortSignal.any([question.signal, AbortSignal.timeout(REQUEST_MS)]);
    try {
      signal.throwIfAborted();
      const response = await this.#send({ ...question, url, signal });
      const status = response.statusCode ?? 0;
      const body = await readBody(response, url);
      if (status >= 300 && status < 400) {
        const to = oneLine(response.headers.location ?? 'nowhere');
        throw new AcmeError(
          'bad_answer',
          `${new URL(url).host} redirects to ${to}, which is not followed: set acme.directory_url to the final URL`,
        );
      }
      return { url, status, headers: response.headers, body };
    } catch (error) {
      throw failureOf(error, signal, new URL(url).host);
    }
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  #send({ method, url, body, signal }: Question): Promise<IncomingMessage> {
    const headers = {
      accept: 'application/json, application/pem-certificate-chain',
      'user-agent': `culvert/${buildInfo().version}`,
      'accept-language': 'en',
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/jose+json', 'content-length': Buffer.byteLength(body) }),
    };
    return new Promise((resolve, reject) => {
      const request = url.startsWith('https:')
        ? httpsRequest(url, { method, headers, signal, agent: this.#https }, resolve)
        : httpRequest(url, { method, headers, signal, agent: this.#http }, resolve);
      request.on('error', reject);
      request.end(body);
    });
  }
}

function isPlainLoopback(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return protocol === 'http:' && (isLoopback(host) || host.endsWith('.localhost'));
}

async function readBody(response: IncomingMessage, url: string): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    size += part.length;
    // Leaving the loop destroys the response, and with it the connection.
    if (size > MAX_BODY_BYTES)
      throw new AcmeError('bad_answer', `the response of ${new URL(url).host} is larger than 256 KB`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** What an abort means: a timeout, or the caller gave up. */
export function abortError(signal: AbortSignal, message: string): AcmeError {
  const isLate = signal.reason instanceof Error && signal.reason.name === 'TimeoutError';
  return isLate ? new AcmeError('timeout', message) : new AcmeError('aborted', 'stopped before it finished');
}

/** OpenSSL's verdicts on a certificate, as Node names them. */
const CERTIFICATE_CODE = /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT)/;

function failureOf(error: unknown, signal: AbortSignal, host: string): AcmeError {
  if (error instanceof AcmeError) return error;
  if (signal.aborted) return abortError(signal, `${host} did not respond in time`);
  const code = codeOf(error);
  // Several addresses were tried: the message is empty then, and the code that of the last.
  const said = oneLine(messageOf(error)) || (code ?? 'no reason given');
  const isUntrusted = code !== undefined && CERTIFICATE_CODE.test(code);
  const advice = isUntrusted ? '; for a private authority set acme.ca_file to its root' : '';
  return new AcmeError('network', `${host} is unreachable: ${said}${advice}`, { cause: error });
}
