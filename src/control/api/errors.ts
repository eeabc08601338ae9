/**
 * Every failure of a request as `{error, message}` (contract §3). Nothing of a fault inside reaches the caller: no stack, no SQL.
 */
import type { Hook } from '@hono/zod-openapi';
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { ApiEnv } from './context.ts';

export const errorBody = z
  .object({
    error: z.string().openapi({ example: 'not_found', description: 'Stable machine code.' }),
    message: z.string(),
    details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    retry_after_seconds: z.int().optional(),
  })
  .openapi('Error');

/** Documents a JSON answer. */
export function json<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

/** Documents the error answers of a route. */
export function errorResponses(...statuses: readonly number[]) {
  const entry = (status: number) => ({
    description: DESCRIPTIONS[status] ?? 'Error',
    content: { 'application/json': { schema: errorBody } },
  });
  return Object.fromEntries(statuses.map((status) => [status, entry(status)]));
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request is malformed.',
  401: 'No valid credentials.',
  403: 'Not allowed for this role or organization.',
  404: 'No such thing in the organization of the caller.',
  409: 'In conflict with something that exists.',
  429: 'Too many requests to /auth/*.',
  503: 'Not ready.',
};

/** A body, query or parameter that does not fit its schema. */
export const refuseInvalid: Hook<unknown, ApiEnv, string, unknown> = (result) => {
  if (result.success) return;
  // A path that can't be an id is a thing that does not exist (contract §3).
  if (result.target === 'param') throw new AppError('not_found', 'There is no such thing.');
  const details = result.error.issues.map((issue) => ({
    path: issue.path.map(String).join('.'),
    message: issue.message,
  }));
  const first = details[0];
  const where = first === undefined || first.path === '' ? 'the body' : first.path;
  throw new AppError('invalid_request', `The request is not valid: ${where}: ${first?.message ?? 'not as expected'}.`, {
    details,
  });
};

/** The last stop of everything that a handler or middleware throws. */
export function answerError(error: unknown, c: Context<ApiEnv>, log: Logger): Response {
  const known = asAppError(error);
  if (known === undefined) {
    log.error({ err: error, method: c.req.method, path: c.req.path }, 'a request failed');
    return reply(c, new AppError('internal', 'The server has a fault. Its log says more.'));
  }
  if (known.status >= 500) log.warn({ err: known, path: c.req.path }, 'a request was not served');
  return reply(c, known);
}

function asAppError(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error;
  if (!(error instanceof HTTPException)) return undefined;
  // From the validator: bad JSON is 400, a wrong content type 415 (a code that the contract doesn't know); both would be plain text.
  if (error.status === 400)
    return new AppError('invalid_request', 'The body is not valid JSON.', {
      details: [{ path: '', message: 'not valid JSON' }],
    });
  if (error.status === 415)
    return new AppError('invalid_request', 'Send the body with Content-Type: application/json.');
  if (error.status === 413) return new AppError('payload_too_large', 'The body is larger than 1 MiB.');
  return undefined;
}

function reply(c: Context<ApiEnv>, error: AppError): Response {
  if (error.code === 'unauthorized') c.header('WWW-Authenticate', 'Bearer');
  if (error.retryAfterSeconds !== undefined) c.header('Retry-After', String(error.retryAfterSeconds));
  return c.json(
    {
      error: error.code,
      message: error.message,
      ...(error.details === undefined ? {} : { details: error.details }),
      ...(error.retryAfterSeconds === undefined ? {} : { retry_after_seconds: error.retryAfterSeconds }),
    },
    error.status as ContentfulStatusCode,
  );
}
