/**
 * The package `culvert`: public URLs for programs of Node. Built by scripts/build-sdk.mjs; what it exports is what its README tells.
 */
export { CulvertError } from './error.ts';
export { forward } from './forward.ts';
export { listen } from './listen.ts';
export type {
  ErrorCode,
  ForwardOptions,
  GateOptions,
  Listener,
  ServiceOptions,
  Tunnel,
  TunnelEvents,
  TunnelOptions,
  TunnelRequest,
  TunnelStatus,
  WebhookKind,
} from './types.ts';
