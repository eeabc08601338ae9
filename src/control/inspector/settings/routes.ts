/** `/tunnels/{id}/inspector`. */
import { type Api, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { byId, jsonBody } from '../../core/http/fields/shared.ts';
import { inspectorSettings, inspectorSettingsInput, presentSettings } from './schemas.ts';
import type { InspectorSettings } from './service.ts';

interface Deps {
  readonly inspectorSettings: InspectorSettings;
}

const tags = ['inspector'];

export function mountInspectorSettings(app: Api, { inspectorSettings: settings }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/tunnels/{id}/inspector',
        tags,
        summary: 'Get the inspector settings of a tunnel',
        request: { params: byId },
        responses: { 200: json(inspectorSettings, 'The settings') },
      },
      [],
    ),
    (c) => {
      const { id } = c.req.valid('param');
      return c.json(presentSettings(id, settings.get(actorOf(c), id)), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'put',
        path: '/tunnels/{id}/inspector',
        'x-needs': 'tunnel.change',
        tags,
        summary: 'Change the inspector settings of a tunnel',
        description:
          'Mask rules replace values by `***` before a request is stored or shown live. They apply to requests that are recorded from now on, for all roles. Rules for queries and headers also apply to the access log and to exports. A body is cut where a rule could not be applied: it is not valid JSON, or its content coding is unknown. The visitor and your service get everything unchanged. `websocket_frames` applies to new connections: up to 200 messages of each are recorded, 16 KB of each message and 128 KB in total. `json_path` rules apply to them.',
        request: { params: byId, body: jsonBody(inspectorSettingsInput) },
        responses: { 200: json(inspectorSettings, 'The new settings') },
      },
      ['forbidden'],
    ),
    (c) => {
      const { id } = c.req.valid('param');
      const { mask, websocket_frames: websocketFrames } = c.req.valid('json');
      return c.json(presentSettings(id, settings.put(actorOf(c), id, { mask, websocketFrames })), 200);
    },
  );
}
