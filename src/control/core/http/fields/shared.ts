/** Shapes that most routes share. */
import { z } from '@hono/zod-openapi';

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

/** Parameters of a path with `{id}`. */
export const byId = z.object({ id: z.string() });

/** The response to a change that has nothing to return. */
export const done = z.object({ success: z.literal(true) });
export const DONE = { success: true } as const;
