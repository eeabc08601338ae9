/** Publishes `dist/` of a build for some minutes, and prints the URL where GitHub shows it. */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { forward } from 'culvert';
import { preview } from 'vite';

const server = await preview({ preview: { port: 0, allowedHosts: true } });
const tunnel = await forward({ to: server.httpServer.address().port });
console.log(tunnel.url);
if (process.env.GITHUB_STEP_SUMMARY) appendFileSync(process.env.GITHUB_STEP_SUMMARY, `Preview: ${tunnel.url}\n`);
await sleep(Number(process.env.MINUTES ?? 20) * 60_000);
await tunnel.close();
await server.close();
