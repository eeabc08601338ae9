/** Keys of `[tunnels.NAME]` about the way to the service. cli/agent/upstream/upstream-options.ts checks their values together with the flags of the same names. */
import { z } from 'zod';

export const upstreamKeys = {
  /** `preserve`, `rewrite` or the name that the service gets as its Host. */
  host_header: z.string().optional(),
  /** Path that is put before those of requests. */
  path_prefix: z.string().optional(),
  /** File with the certificates of the authorities that the service's certificate may come from; relative to the settings file. */
  upstream_ca: z.string().min(1, 'must be a file name').optional(),
  /** Name for SNI, which the service's certificate must be valid for. */
  upstream_sni: z.string().min(1, 'must be a host name').max(253).optional(),
  /** Files with the certificate and key that the agent shows to the service. */
  upstream_cert: z.string().min(1, 'must be a file name').optional(),
  upstream_key: z.string().min(1, 'must be a file name').optional(),
  upstream_connect_timeout: z.string().optional(),
  upstream_keep_alive_timeout: z.string().optional(),
  /** `http1`, `http2` or `auto`. */
  upstream_protocol: z.string().optional(),
};
