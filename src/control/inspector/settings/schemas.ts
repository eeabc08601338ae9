/** The body of `PUT /tunnels/{id}/inspector`. */
import { z } from '@hono/zod-openapi';
import { text } from '../../core/http/fields/text.ts';
import { readJsonPath } from '../masking/json-path.ts';
import type { InspectorSettingsView } from './service.ts';

const MAX_RULES = 50;
const MAX_NAME = 200;

const header = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'is not a header name');
const jsonPath = text(2, MAX_NAME).refine(
  (path) => readJsonPath(path) !== undefined,
  "is not a path such as $.card.number, $.items[*].secret, $['a b'] or $..password",
);

export const maskRule = z
  .union([
    z.strictObject({ header }),
    z.strictObject({ json_path: jsonPath }),
    z.strictObject({ query: text(1, MAX_NAME) }),
    z.strictObject({ form: text(1, MAX_NAME) }),
  ])
  .openapi('MaskRule', {
    description:
      '`header`: a header of request or response, in any case. `json_path`: values in JSON bodies. `query`: a query parameter, also in `Referer` and `Location`. `form`: a field of a form body.',
    example: { json_path: '$.card.number' },
  });

const FRAMES = 'Record frames of WebSockets; null: the setting of the server';
const EXAMPLE = {
  websocket_frames: true,
  mask: [{ header: 'X-Api-Key' }, { json_path: '$..password' }, { query: 'token' }],
};

export const inspectorSettingsInput = z
  .strictObject({
    websocket_frames: z.boolean().nullable().optional().openapi({ description: FRAMES }),
    mask: z.array(maskRule).max(MAX_RULES).optional(),
  })
  .openapi('InspectorSettingsInput', {
    description: 'A field that is left out stays unchanged. `mask` replaces all rules.',
    example: EXAMPLE,
  });

export const inspectorSettings = z
  .object({
    id: z.uuid(),
    websocket_frames: z.boolean().nullable().openapi({ description: FRAMES }),
    websocket_frames_default: z.boolean().openapi({ description: '`inspector.websocket_frames` of the server' }),
    mask: z.array(maskRule),
  })
  .openapi('InspectorSettings', {
    example: { id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10', websocket_frames_default: false, ...EXAMPLE },
  });

export function presentSettings(id: string, view: InspectorSettingsView): z.input<typeof inspectorSettings> {
  return {
    id,
    websocket_frames: view.websocketFrames,
    websocket_frames_default: view.websocketFramesDefault,
    mask: [...view.mask],
  };
}
