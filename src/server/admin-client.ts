/**
 * The command's end of the operators' socket: one request, over the data folder's socket and over nothing else. Called by admin.ts.
 */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { codeOf, messageOf } from '../base/errors.ts';
import { socketPath } from './socket-path.ts';

/** Far above what an answer takes, also behind a queue of log-ins. */
const ANSWER_MS = 30_000;

export interface Question {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface SocketAnswer {
  readonly status: number;
  readonly text: string;
}

/** Throws with what to do when no server listens on the folder's socket, or no answer comes. */
export async function askSocket(dataDir: string, question: Question): Promise<SocketAnswer> {
  const at = socketPath(dataDir);
  try {
    return await send(at.path, question);
  } catch (cause) {
    // The lock is held, and not by a server that has got as far as its socket, or has it still.
    if (['ENOENT', 'ECONNREFUSED'].includes(codeOf(cause) ?? '')) {
      throw new Error(
        `${dataDir} is in use: a server is starting on it, or another culvert admin is running. Try again in a moment.`,
        { cause },
      );
    }
    throw new Error(`the server on ${dataDir} does not respond: ${messageOf(cause)}`, { cause });
  } finally {
    at.release();
  }
}

function send(socket: string, { method, path, headers, body }: Question): Promise<SocketAnswer> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const asked = request({ socketPath: socket, method, path, headers, agent: false, signal }, (answer) => {
      text(answer).then((read) => resolve({ status: answer.statusCode ?? 0, text: read }), reject);
    });
    asked.once('error', (error) =>
      reject(signal.aborted ? new Error(`no response within ${ANSWER_MS / 1000} s`, { cause: error }) : error),
    );
    asked.end(body);
  });
}
