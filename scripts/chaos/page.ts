/** The smallest service, to be started in an agent's namespace: prints its port. */
import { createServer } from 'node:http';

const server = createServer((_request, response) => response.end('here'));
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify(server.address())));
