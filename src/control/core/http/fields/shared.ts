/** Shapes that most routes share. */
import type { z } from '@hono/zod-openapi';

/** The request body of a route: JSON of `schema`, and not optional. */
export function jsonBody<T extends z.ZodType>(schema: T) {
  return { required: true as const, content: { 'application/json': { schema } } };
}

/** Milliseconds since the epoch as in every answer: RFC 3339, UTC. */
export function iso(ms: number): string;
export function iso(ms: number | null): string | null;
export function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
