/** What the refusals of a service mean for how its tunnel is set up; its agent notices (agent/inspect/advice.ts), and the dashboard shows it. */
export const ADVICE_CODES = [
  'host_header', // it refuses the public host name: --host-header rewrite
  'allowed_hosts', // it refuses the public host name, and looks at X-Forwarded-Host too
  'tls', // it was spoken to in plain, and speaks TLS
] as const;
export type AdviceCode = (typeof ADVICE_CODES)[number];
