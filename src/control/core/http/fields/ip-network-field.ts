/** An IP network as a field of a body: the characters of one. The service reads it, and says what is wrong with it. */
import { z } from '@hono/zod-openapi';

export const ipNetwork = z.string().openapi({ pattern: '^[0-9A-Fa-f:.]{2,45}(/[0-9]{1,3})?$' });
