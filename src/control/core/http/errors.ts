/**
 * Every failure of a request as `{error, message}`. Nothing of a fault inside reaches the caller: no stack, no SQL.
 */
import type { Hook } from '@hono/zod-openapi';
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { html } from 'hono/html';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { API_ERRORS, type ErrorCode } from '../../../base/codes/api-errors.ts';
import { explain } from '../../../base/codes/code-text.ts';
import { AppError } from '../../../base/errors.ts';
import type { ApiEnv } from './context.ts';
import { PAGE_POLICY } from './page-policy.ts';
import type { ErrorLog } from './error-log.ts';
import { given } from '../../../base/given.ts';

const CODES = Object.keys(API_ERRORS) as [ErrorCode, ...ErrorCode[]];

export const errorBody = z
  .object({
    error: z.enum(CODES).openapi({ example: 'not_found', description: 'Stable error code for programs.' }),
    message: z
      .string()
      .openapi({ example: 'No object has this id. Check it.', description: 'For users: the cause and the next step.' }),
    details: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .openapi({ description: 'With `invalid_request`: each invalid field.' }),
    retry_after_seconds: z.int().optional().openapi({ description: 'Same value as the header `Retry-After`.' }),
  })
  .openapi('Error');

/** Documents a JSON answer. */
export function json<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

/** Made once for each list of codes: hundreds of routes have the same few, and all are made at each start. */
const RESPONSES = new Map<string, ReturnType<typeof responsesOf>>();

/** Documents the errors of a route: one answer per status, with an example per code. */
export function errorResponses(codes: readonly ErrorCode[]) {
  const list = codes.join(' ');
  let responses = RESPONSES.get(list);
  if (responses === undefined) RESPONSES.set(list, (responses = responsesOf(codes)));
  return responses;
}

function responsesOf(codes: readonly ErrorCode[]) {
  const byStatus = Map.groupBy(new Set(codes), (code) => API_ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, group]) => [
        status,
        {
          description: group.map((code) => `\`${code}\`: ${explain(API_ERRORS[code])}`).join('\n\n'),
          ...(status === 429 || status === 503 ? { headers: RETRY_AFTER } : {}),
          content: {
            'application/json': {
              schema: errorBody,
              examples: Object.fromEntries(group.map((code) => [code, { value: exampleOf(code) }])),
            },
          },
        },
      ]),
  );
}

const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds to wait, if known', schema: { type: 'integer' as const } },
};

function exampleOf(code: ErrorCode) {
  const message = explain(API_ERRORS[code]);
  if (code === 'rate_limited') return { error: code, message, retry_after_seconds: 12 };
  if (code === 'invalid_request')
    return {
      error: code,
      message,
      details: [{ path: 'name', message: 'Too small: expected string to have >=1 characters' }],
    };
  return { error: code, message };
}

/** A body, query or parameter that does not fit its schema. */
export const refuseInvalid: Hook<unknown, ApiEnv, string, unknown> = (result) => {
  if (result.success) return;
  // A path that can't be an id is a thing that does not exist.
  if (result.target === 'param') throw new AppError('not_found', 'No object has this id. Check it.');
  const details = result.error.issues.map((issue) => ({
    path: issue.path.map(String).join('.'),
    message: issue.message,
  }));
  const first = details[0];
  const where = first === undefined || first.path === '' ? 'the body' : first.path;
  throw new AppError('invalid_request', `The request is invalid: ${where}: ${first?.message ?? 'not as expected'}.`, {
    details,
  });
};

/** Addresses that a browser is sent to: a person gets their failures as a page, a program as JSON. */
export interface ErrorPages {
  readonly path: RegExp;
  page(error: AppError, c: Context<ApiEnv>): string | ReturnType<typeof html>;
}

/** The last stop of everything that a handler or middleware throws. */
export function answerError(
  error: unknown,
  c: Context<ApiEnv>,
  { log, pages = [] }: { log: ErrorLog; pages?: readonly ErrorPages[] },
): Response | Promise<Response> {
  const known = asAppError(error);
  if (known === undefined) {
    log.fault(error, c.req);
    return reply(c, new AppError('internal', 'The server had an internal error. The reason is in its log.'), pages);
  }
  log.refusal(known, c.req);
  return reply(c, known, pages);
}

function asAppError(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error;
  // Drizzle puts an error of its own around some of the database's.
  if (error instanceof Error && error.cause instanceof AppError) return error.cause;
  if (!(error instanceof HTTPException)) return undefined;
  // From the validator: bad JSON is 400, a wrong content type 415 (a code that the contract doesn't know); both would be plain text.
  if (error.status === 400)
    return new AppError('invalid_request', 'The body is invalid JSON. Correct it.', {
      details: [{ path: '', message: 'not valid JSON' }],
    });
  if (error.status === 415)
    return new AppError('invalid_request', 'The body is not JSON. Send it with Content-Type: application/json.', {
      details: [{ path: '', message: 'the Content-Type is not application/json' }],
    });
  if (error.status === 413)
    return new AppError('payload_too_large', 'The body is larger than 1 MiB. Send a smaller one.');
  return undefined;
}

function reply(c: Context<ApiEnv>, error: AppError, pages: readonly ErrorPages[]): Response | Promise<Response> {
  if (error.code === 'unauthorized') c.header('WWW-Authenticate', 'Bearer');
  if (error.retryAfterSeconds !== undefined) c.header('Retry-After', String(error.retryAfterSeconds));
  const acceptsPage = (c.req.header('accept') ?? '').includes('text/html');
  const asPage = acceptsPage ? pages.find(({ path }) => path.test(c.req.path)) : undefined;
  if (asPage !== undefined) {
    c.header('Content-Security-Policy', PAGE_POLICY);
    return c.html(asPage.page(error, c), error.status as ContentfulStatusCode);
  }
  return c.json(
    {
      error: error.code,
      message: error.message,
      ...given({ details: error.details, retry_after_seconds: error.retryAfterSeconds }),
    },
    error.status as ContentfulStatusCode,
  );
}
