/** `/private-networks`: WireGuard networks whose server is a customer's machine. Their devices are devices-routes.ts's. */
import { z } from '@hono/zod-openapi';
import { MAX_DNS, MAX_EXTRA_ALLOWED_IPS, MAX_NAME } from './input.ts';
import { MAX_NETWORKS, type Networks, type ShownNetwork } from './service.ts';
import { type Api, actorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { byId, DONE, done, iso, jsonBody } from '../core/http/fields/shared.ts';
import { ipNetwork } from '../core/http/fields/ip-network-field.ts';
import { given } from '../../base/given.ts';

interface Deps {
  readonly networks: Networks;
}

const network = z
  .object({
    id: z.uuid(),
    name: z.string(),
    cidr: z.string().openapi({ description: 'Addresses of the network; its first host is the server' }),
    server_public_key: z
      .string()
      .nullable()
      .openapi({ description: 'WireGuard public key; null until a server is registered' }),
    public_endpoint: z.string().nullable().openapi({
      description:
        '`host:port` in the configurations of clients. null until a server is registered, and after the operator removes the port (`edge.udp_ports`). Then register the server again, and give clients new configurations.',
    }),
    server_listen_port: z.int().nullable().openapi({ description: "Port of WireGuard on the network's server" }),
    reserved_udp_port: z.int().nullable().openapi({
      description:
        "UDP port of this server for clients of the network. null: none yet, or clients connect to the network's server directly.",
    }),
    dns: z.array(z.string()).openapi({ description: 'Name servers for clients' }),
    extra_allowed_ips: z
      .array(z.string())
      .openapi({ description: 'Networks that clients route here, in addition to `cidr`' }),
    device_count: z.int().openapi({ description: 'Enrolled devices' }),
    created_at: z.iso.datetime(),
  })
  .openapi('PrivateNetwork', {
    example: {
      id: '019aa3c2-5b7a-7e21-9f43-8a1c0d5b6e72',
      name: 'office',
      cidr: '10.80.0.0/24',
      server_public_key: 'cDwX9Yv2bqLr3m8TfZ0nKs5hJ1oW7uE4iA6gPyQeRHk=',
      public_endpoint: 'example.com:30000',
      server_listen_port: 51_820,
      reserved_udp_port: 30_000,
      dns: [],
      extra_allowed_ips: ['192.168.7.0/24'],
      device_count: 2,
      created_at: '2026-11-21T09:00:00.000Z',
    },
  });

const name = z.string().openapi({
  example: 'office',
  description: `1 to ${MAX_NAME} visible characters, and not in the form of an ID; else \`invalid_name\``,
});
const cidr = z.string().openapi({
  example: '10.80.0.0/24',
  description:
    'An IPv4 network of /8 to /30 in 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or 100.64.0.0/10, without host bits; else `invalid_cidr`. It never changes.',
});
/** The service reads it. */
const ipAddress = z.string().openapi({ anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] });
const newNetwork = z
  .object({ name, cidr })
  .openapi('NewPrivateNetwork', { example: { name: 'office', cidr: '10.80.0.0/24' } });
const changes = z
  .object({
    name,
    dns: z
      .array(ipAddress)
      .max(MAX_DNS)
      .openapi({
        example: ['10.80.0.1'],
        description: `IP addresses of name servers for clients, at most ${MAX_DNS}`,
      }),
    extra_allowed_ips: z
      .array(ipNetwork)
      .max(MAX_EXTRA_ALLOWED_IPS)
      .openapi({
        example: ['192.168.7.0/24'],
        description: `Networks that clients route here in addition to \`cidr\`, at most ${MAX_EXTRA_ALLOWED_IPS}. 0.0.0.0/0 and ::/0 for all traffic.`,
      }),
  })
  .partial()
  .openapi('PrivateNetworkChanges', { example: { extra_allowed_ips: ['192.168.7.0/24'] } });
const server = z
  .object({
    server_public_key: z.string().openapi({
      example: 'cDwX9Yv2bqLr3m8TfZ0nKs5hJ1oW7uE4iA6gPyQeRHk=',
      description: 'Output of `wg pubkey`: 32 bytes in base64; else `invalid_public_key`',
    }),
    server_listen_port: z.int().min(1).max(65_535).openapi({ example: 51_820 }),
    public_endpoint: z.string().nullish().openapi({
      pattern: '^[A-Za-z0-9._:[\\]-]+:[0-9]{1,5}$',
      example: 'vpn.example.com:51820',
      description:
        "`host:port`, only if clients connect to the network's server directly. Omitted or null: they use a UDP port of this server.",
    }),
  })
  .openapi('PrivateNetworkServer', {
    example: {
      server_public_key: 'cDwX9Yv2bqLr3m8TfZ0nKs5hJ1oW7uE4iA6gPyQeRHk=',
      server_listen_port: 51_820,
    },
  });
const config = z.object({ config: z.string() }).openapi('WireGuardServerConfig', {
  description: 'For `wg-quick`. Replace `REPLACE_WITH_PRIVATE_KEY` with the private key first.',
  example: {
    config:
      '# The server of the private network office\n[Interface]\nPrivateKey = REPLACE_WITH_PRIVATE_KEY\nAddress = 10.80.0.1/24\nListenPort = 51820\nMTU = 1400\n#   culvert udp 51820 --network office --server https://tunnel.example.com\n\n[Peer]\n# laptop\nPublicKey = 8Xr2mJ0vQkq5Tn7bL3cWz9fHs1dYp4uGe6aRoViKxUM=\nAllowedIPs = 10.80.0.2/32\n',
  },
});

const tags = ['private-networks'];

/** Mounts private networks and their servers. */
export function mountNetworks(app: Api, deps: Deps): void {
  mountNetworkList(app, deps);
  mountNetwork(app, deps);
  mountServer(app, deps);
}

function mountNetworkList(app: Api, { networks }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/private-networks',
      tags,
      summary: 'List private networks, oldest first',
      responses: { 200: json(z.array(network), 'Private networks') },
    }),
    (c) => c.json(networks.list(actorOf(c)).map(present), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/private-networks',
        'x-needs': 'network.create',
        tags,
        summary: 'Create a private network',
        description: `At most ${MAX_NETWORKS}, on every plan. Networks can overlap. Register the network's server next.`,
        request: { body: jsonBody(newNetwork) },
        responses: { 201: json(network, 'Created') },
      },
      ['forbidden', 'invalid_cidr', 'invalid_name', 'duplicate_name', 'conflict', 'rate_limited'],
    ),
    (c) => c.json(present(networks.create(actorOf(c), c.req.valid('json'))), 201),
  );
}

function mountNetwork(app: Api, { networks }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/private-networks/{id}',
      tags,
      summary: 'Get a private network',
      request: { params: byId },
      responses: { 200: json(network, 'The network') },
    }),
    (c) => c.json(present(networks.get(actorOf(c), c.req.valid('param').id)), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'patch',
        path: '/private-networks/{id}',
        'x-needs': 'network.change',
        tags,
        summary: 'Change the name or client settings of a network',
        description: 'Omitted fields stay unchanged. Give clients new configurations after a change.',
        request: { params: byId, body: jsonBody(changes) },
        responses: { 200: json(network, 'Changed') },
      },
      ['forbidden', 'invalid_name', 'duplicate_name'],
    ),
    (c) => {
      const { name, dns, extra_allowed_ips: extraAllowedIps } = c.req.valid('json');
      const change = given({ name, dns, extraAllowedIps });
      return c.json(present(networks.update(actorOf(c), c.req.valid('param').id, change)), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/private-networks/{id}',
        tags,
        summary: 'Delete a private network with its devices',
        description: 'The organization keeps the UDP port for 24 hours.',
        request: { params: byId },
        responses: { 200: json(done, 'Deleted') },
      },
      ['forbidden'],
    ),
    (c) => {
      networks.delete(actorOf(c), c.req.valid('param').id);
      return c.json(DONE, 200);
    },
  );
}

function mountServer(app: Api, { networks }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'put',
        path: '/private-networks/{id}/server',
        'x-needs': 'network.change',
        tags,
        summary: 'Register the server of a network, or replace it',
        description:
          'The network gets a UDP port of this server and keeps it. Clients connect to this port, and an agent next to the WireGuard of the network (`culvert udp`) forwards their packets. With a `public_endpoint`, the network releases the port. You can change this at any time. The organization keeps a released port for 24 hours. If there are other organizations, one can use at most three quarters of the ports. Above that, or if no port is free: 409 `conflict`.',
        request: { params: byId, body: jsonBody(server) },
        responses: { 200: json(network, 'Registered') },
      },
      ['forbidden', 'invalid_public_key', 'conflict'],
    ),
    (c) => {
      const { server_public_key: publicKey, server_listen_port: listenPort, public_endpoint } = c.req.valid('json');
      const input = { publicKey, listenPort, endpoint: public_endpoint ?? null };
      return c.json(present(networks.setServer(actorOf(c), c.req.valid('param').id, input)), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/private-networks/{id}/server-config',
        tags,
        summary: 'Get the WireGuard config of the server of a network',
        description: 'The configuration has one peer per device that is not expired, and no private key.',
        request: { params: byId },
        responses: { 200: json(config, 'The configuration') },
      },
      ['server_not_registered'],
    ),
    (c) => c.json({ config: networks.serverConfig(actorOf(c), c.req.valid('param').id) }, 200),
  );
}

function present({ row, endpoint, devices }: ShownNetwork) {
  return {
    id: row.id,
    name: row.name,
    cidr: row.cidr,
    server_public_key: row.serverPublicKey,
    public_endpoint: endpoint,
    server_listen_port: row.serverListenPort,
    reserved_udp_port: row.reservedUdpPort,
    dns: [...row.dns],
    extra_allowed_ips: [...row.extraAllowedIps],
    device_count: devices,
    created_at: iso(row.createdAt),
  };
}
