/** The service of a soak: does what the plan says, checks each upload by its hash, and remembers how each request ended. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate, setTimeout as pause } from 'node:timers/promises';
import { type Bodies, hashOf, type Plan } from './plan.ts';

/** A slow side does this much at once and then rests. */
export const SLOW_BYTES = 48 * 1024;
export const SLOW_MS = 4;

export interface Seen {
  /** How often the request came. */
  times: number;
  /** Its body: still coming, whole and right, ended at another length or content, or broken off. */
  upload: 'coming' | 'good' | 'wrong' | 'broken';
}

export class SoakOrigin {
  readonly seen = new Map<number, Seen>();
  /** Requests under way. */
  active = 0;
  readonly #plans: readonly Plan[];
  readonly #bodies: Bodies;

  constructor(plans: readonly Plan[], bodies: Bodies) {
    this.#plans = plans;
    this.#bodies = bodies;
  }

  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    const plan = this.#plans[Number(request.headers['x-plan'])];
    if (plan === undefined) {
      response.writeHead(200).end('ready');
      return;
    }
    const before = this.seen.get(plan.id);
    const seen: Seen = { times: (before?.times ?? 0) + 1, upload: 'coming' };
    this.seen.set(plan.id, seen);
    this.active++;
    response.on('close', () => this.active--);
    this.#serve(plan, { request, response, seen }).catch((error: unknown) => {
      // The side that breaks off destroys the socket under the other's feet: that is the plan. A fault of this program is not.
      if (!response.destroyed) response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  };

  async #serve(plan: Plan, at: { request: IncomingMessage; response: ServerResponse; seen: Seen }): Promise<void> {
    const { request, response, seen } = at;
    await this.#takeUpload(plan, request, seen);
    if (plan.abort === 'origin-head') {
      request.socket.destroy();
      return;
    }
    const body = this.#bodies.down(plan);
    const headers: Record<string, string> = { 'content-type': 'application/octet-stream', 'x-hash': hashOf(body) };
    if (plan.downFraming === 'length') headers['content-length'] = String(body.length);
    if (plan.downFraming === 'close') {
      response.useChunkedEncodingByDefault = false;
      headers['connection'] = 'close';
    }
    response.writeHead(200, headers);
    const breaks = plan.abort === 'origin-end' || plan.abort === 'origin-reset';
    await send(response, breaks ? body.subarray(0, plan.abortAt) : body, plan.slow === 'origin');
    if (!breaks) {
      response.end();
    } else if (plan.abort === 'origin-reset') {
      request.socket.resetAndDestroy();
    } else {
      // What was written goes out first, which Node does at the end of the turn; then the end: a service that crashes half way through.
      await setImmediate();
      request.socket.end();
    }
  }

  async #takeUpload(plan: Plan, request: IncomingMessage, seen: Seen): Promise<void> {
    const hash = createHash('sha256');
    let size = 0;
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        hash.update(chunk);
        size += chunk.length;
        if (plan.slow === 'origin' && size % SLOW_BYTES < chunk.length) await pause(SLOW_MS);
      }
    } catch (error) {
      seen.upload = 'broken';
      throw error;
    }
    const right = size === plan.up && hash.digest('base64') === hashOf(this.#bodies.up(plan));
    seen.upload = right ? 'good' : 'wrong';
  }
}

async function send(response: ServerResponse, body: Buffer, slowly: boolean): Promise<void> {
  const step = slowly ? SLOW_BYTES : 65_536;
  for (let at = 0; at < body.length; at += step) {
    if (response.destroyed) throw new Error('the visitor has gone');
    const flowing = response.write(body.subarray(at, at + step));
    if (slowly) await pause(SLOW_MS);
    else if (!flowing) await drained(response);
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const onDrain = (): void => {
      response.off('close', onClose);
      resolve();
    };
    const onClose = (): void => {
      response.off('drain', onDrain);
      reject(new Error('the visitor has gone'));
    };
    response.once('drain', onDrain);
    response.once('close', onClose);
  });
}
