/**
 * What the HTTP server under the API refuses before any route sees it, as `{error, message}` like every other failure: bytes that are no
 * HTTP, a head that is too large or too slow, a target or Host that is no URL. Node would answer with an empty body. Called by listener.ts.
 */
import { type IncomingMessage, type Server as HttpServer, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { RequestError } from '@hono/node-server';
import type { ErrorCode } from '../../../../base/codes/api-errors.ts';
import { codeOf } from '../../../../base/errors.ts';

interface Refusal {
  readonly status: number;
  readonly error: ErrorCode;
  readonly message: string;
}

const NOT_HTTP: Refusal = {
  status: 400,
  error: 'invalid_request',
  message: 'The request is invalid HTTP/1.1. Check how the client builds it.',
};
/** By the code of Node's error. */
const REFUSALS: ReadonlyMap<string, Refusal> = new Map([
  [
    'HPE_HEADER_OVERFLOW',
    {
      status: 431,
      error: 'payload_too_large',
      message: 'The header of the request is too large. Send fewer or shorter fields.',
    },
  ],
  [
    'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    { status: 413, error: 'payload_too_large', message: 'A chunk extension of the body is too large. Leave it out.' },
  ],
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    { status: 408, error: 'invalid_request', message: 'The request did not arrive in time. Send it again.' },
  ],
]);

/** Answers what the server can't parse, and closes the connection: the start of the next request is unknown. */
export function answerMalformed(server: HttpServer | HttpsServer): void {
  const answers = new WeakMap<Duplex, ServerResponse>();
  server.prependListener(
    'request',
    (request: IncomingMessage, response: ServerResponse) => void answers.set(request.socket, response),
  );
  server.on('clientError', (error: Error, socket: Duplex) => {
    const answer = answers.get(socket);
    const isUnderWay = answer?.headersSent === true && !answer.writableFinished;
    // A second answer in the middle of another would be read as a part of it.
    if (!socket.writable || isUnderWay) socket.destroy(error);
    else socket.end(written(REFUSALS.get(codeOf(error) ?? '') ?? NOT_HTTP), () => void socket.destroy());
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const refusal: Refusal = {
      status: 417,
      error: 'invalid_request',
      message: 'The header Expect is not supported. Send the request without it.',
    };
    response.writeHead(refusal.status, headersOf(refusal)).end(bodyOf(refusal));
  });
}

/** The answer to a request that is HTTP but has no URL that could be routed. */
export function refuseUnroutable(error: unknown): Response {
  const refusal: Refusal =
    error instanceof RequestError
      ? { status: 400, error: 'invalid_request', message: `The URL of the request is invalid: ${error.message}.` }
      : { status: 500, error: 'internal', message: 'The server had an internal error. The reason is in its log.' };
  return new Response(bodyOf(refusal), { status: refusal.status, headers: headersOf(refusal) });
}

function written(refusal: Refusal): string {
  const head = Object.entries(headersOf(refusal)).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${head.join('')}\r\n${bodyOf(refusal)}`;
}

function headersOf(refusal: Refusal): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(bodyOf(refusal))),
    'Cache-Control': 'no-store',
    Connection: 'close',
  };
}

function bodyOf({ error, message }: Refusal): string {
  return JSON.stringify({ error, message });
}
