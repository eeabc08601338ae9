/** Vite plugin: `vite dev` prints a public URL for the development server, with hot reload. */
import { forward } from 'culvert';

/** @returns {import('vite').Plugin} */
export function culvert(options = {}) {
  let tunnel;
  return {
    name: 'culvert',
    apply: 'serve',
    config: () => ({ server: { allowedHosts: true } }),
    configureServer(server) {
      server.httpServer?.once('listening', async () => {
        const { port } = server.httpServer.address();
        tunnel = await forward({ to: port, ...options });
        server.config.logger.info(`  Public: ${tunnel.url}`);
      });
      server.httpServer?.once('close', () => tunnel?.close());
    },
  };
}
