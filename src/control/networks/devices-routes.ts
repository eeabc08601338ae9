/** `/private-networks/{id}/devices`: who may speak in a private network. */
import { z } from '@hono/zod-openapi';
import { MAX_IN_NETWORK, MAX_IN_ORG, type NetworkDevices, type ShownDevice } from './devices.ts';
import { MAX_EXTRA_ALLOWED_IPS, MAX_NAME } from './input.ts';
import { type Api, actorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { byId, DONE, done, iso, jsonBody } from '../core/http/fields/shared.ts';
import { ipNetwork } from '../core/http/fields/ip-network-field.ts';
import { given } from '../../base/given.ts';

interface Deps {
  readonly networkDevices: NetworkDevices;
}

const EXAMPLE = {
  id: '019aa3c2-5b7c-7b08-8e15-4d6f2a9c1e30',
  name: 'laptop',
  assigned_ip: '10.80.0.2',
  public_key: '8Xr2mJ0vQkq5Tn7bL3cWz9fHs1dYp4uGe6aRoViKxUM=',
  expires_at: null,
  expired: false,
  extra_allowed_ips: [],
  created_at: '2026-11-21T09:00:00.000Z',
  last_handshake_at: '2026-11-21T09:04:00.000Z',
  last_seen_at: '2026-11-21T09:05:00.000Z',
  endpoint: '198.51.100.7:40213',
  bytes_in: 18_204,
  bytes_out: 92_311,
};
const device = z
  .object({
    id: z.uuid(),
    name: z.string(),
    assigned_ip: z.string().openapi({ description: 'Address in the network' }),
    public_key: z.string().openapi({ description: 'WireGuard public key' }),
    expires_at: z.iso.datetime().nullable().openapi({ description: 'null: never' }),
    expired: z.boolean().openapi({ description: "The device is expired: it can't connect, and keeps its address" }),
    extra_allowed_ips: z.array(z.string()).openapi({ description: 'Networks behind the device' }),
    created_at: z.iso.datetime(),
    last_handshake_at: z.iso.datetime().nullable().openapi({
      description: 'As the relay saw it; null: not seen. Networks without the relay have no such values.',
    }),
    last_seen_at: z.iso.datetime().nullable(),
    endpoint: z.string().nullable().openapi({ description: 'Last address and port of the device' }),
    bytes_in: z.int().openapi({ description: 'Bytes that the device sent' }),
    bytes_out: z.int().openapi({ description: 'Bytes that were sent to the device' }),
  })
  .openapi('NetworkDevice', { example: EXAMPLE });

const name = z.string().openapi({
  example: 'laptop',
  description: `1 to ${MAX_NAME} visible characters, and not in the form of an ID; else \`invalid_name\``,
});
const optional = {
  expires_at: z.iso.datetime({ offset: true }).nullable().optional().openapi({
    example: '2027-01-01T00:00:00Z',
    description: 'Time at which the device is blocked, in the future. null: never',
  }),
  extra_allowed_ips: z
    .array(ipNetwork)
    .max(MAX_EXTRA_ALLOWED_IPS)
    .optional()
    .openapi({
      example: ['192.168.9.0/24'],
      description: `Networks behind the device, at most ${MAX_EXTRA_ALLOWED_IPS}, each /8 or smaller, and none behind another device. The server's configuration contains them.`,
    }),
};
const newDevice = z
  .object({
    name,
    public_key: z.string().openapi({
      example: EXAMPLE.public_key,
      description: 'Output of `wg pubkey`: 32 bytes in base64; else `invalid_public_key`',
    }),
    ...optional,
  })
  .openapi('NewNetworkDevice', { example: { name: EXAMPLE.name, public_key: EXAMPLE.public_key } });
const changes = z
  .object({ name: name.optional(), ...optional })
  .openapi('NetworkDeviceChanges', { example: { expires_at: '2027-01-01T00:00:00Z' } });
const enrolled = z
  .object({ device, network_cidr: z.string() })
  .openapi('EnrolledDevice', { example: { device: EXAMPLE, network_cidr: '10.80.0.0/24' } });
const config = z.object({ config: z.string() }).openapi('WireGuardClientConfig', {
  description: 'For `wg-quick` and the WireGuard apps. Replace `REPLACE_WITH_PRIVATE_KEY` with the private key first.',
  example: {
    config:
      '# laptop in the private network office\n[Interface]\nPrivateKey = REPLACE_WITH_PRIVATE_KEY\nAddress = 10.80.0.2/32\nMTU = 1400\n\n[Peer]\nPublicKey = cDwX9Yv2bqLr3m8TfZ0nKs5hJ1oW7uE4iA6gPyQeRHk=\nEndpoint = example.com:30000\nAllowedIPs = 10.80.0.0/24\nPersistentKeepalive = 25\n',
  },
});

const ids = z.object({ id: z.string(), device_id: z.string() });
const tags = ['private-networks'];

export function mountNetworkDevices(app: Api, { networkDevices }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/private-networks/{id}/devices',
      tags,
      summary: 'List devices of a private network, by address',
      request: { params: byId },
      responses: { 200: json(z.array(device), 'Devices') },
    }),
    (c) => c.json(networkDevices.list(actorOf(c), c.req.valid('param').id).map(present), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/private-networks/{id}/devices',
        'x-needs': 'network_device.create',
        tags,
        summary: 'Enroll a device with the lowest free address',
        description: `A device is enrolled by its public key. A key that is already enrolled returns 200 and its device, unchanged. At most ${MAX_IN_NETWORK.toLocaleString('en')} in a network, and ${MAX_IN_ORG.toLocaleString('en')} in total. Load the new configuration on the network's server afterwards.`,
        request: { params: byId, body: jsonBody(newDevice) },
        responses: { 200: json(enrolled, 'Already enrolled'), 201: json(enrolled, 'Enrolled') },
      },
      ['forbidden', 'invalid_name', 'invalid_public_key', 'network_full', 'conflict', 'rate_limited'],
    ),
    (c) => {
      const {
        public_key: publicKey,
        name,
        expires_at: expiresAt,
        extra_allowed_ips: extraAllowedIps,
      } = c.req.valid('json');
      const input = { publicKey, name, ...given({ expiresAt, extraAllowedIps }) };
      const made = networkDevices.enroll(actorOf(c), c.req.valid('param').id, input);
      return c.json({ device: present(made.device), network_cidr: made.networkCidr }, made.isNew ? 201 : 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'patch',
        path: '/private-networks/{id}/devices/{device_id}',
        'x-needs': 'network_device.change',
        tags,
        summary: 'Change the name, expiry or networks of a device',
        description: 'Omitted fields stay unchanged. A new expiry enables an expired device again.',
        request: { params: ids, body: jsonBody(changes) },
        responses: { 200: json(device, 'Changed') },
      },
      ['forbidden', 'invalid_name'],
    ),
    (c) => {
      const { id, device_id } = c.req.valid('param');
      const { name, expires_at: expiresAt, extra_allowed_ips: extraAllowedIps } = c.req.valid('json');
      const changed = given({ name, expiresAt, extraAllowedIps });
      return c.json(present(networkDevices.update(actorOf(c), { networkId: id, id: device_id }, changed)), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/private-networks/{id}/devices/{device_id}',
        tags,
        summary: 'Revoke a device',
        description:
          "The relay disconnects the device immediately, and its address is free. Load the new configuration on the network's server, too.",
        request: { params: ids },
        responses: { 200: json(done, 'Revoked') },
      },
      ['forbidden'],
    ),
    (c) => {
      const { id, device_id } = c.req.valid('param');
      networkDevices.revoke(actorOf(c), id, device_id);
      return c.json(DONE, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/private-networks/{id}/devices/{device_id}/config',
        tags,
        summary: 'Get the WireGuard config of a device',
        description: 'The configuration has no private key.',
        request: { params: ids },
        responses: { 200: json(config, 'The configuration') },
      },
      ['server_not_registered'],
    ),
    (c) => {
      const { id, device_id } = c.req.valid('param');
      return c.json({ config: networkDevices.config(actorOf(c), id, device_id) }, 200);
    },
  );
}

function present({ row, assignedIp, expired }: ShownDevice) {
  return {
    id: row.id,
    name: row.name,
    assigned_ip: assignedIp,
    public_key: row.publicKey,
    expires_at: iso(row.expiresAt),
    expired,
    extra_allowed_ips: [...row.extraAllowedIps],
    created_at: iso(row.createdAt),
    last_handshake_at: iso(row.lastHandshakeAt),
    last_seen_at: iso(row.lastSeenAt),
    endpoint: row.endpoint,
    bytes_in: row.bytesIn,
    bytes_out: row.bytesOut,
  };
}
