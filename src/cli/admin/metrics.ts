/** `culvert admin metrics`: the metrics of the server in the format of Prometheus. */
import { print } from '../terminal/io.ts';
import { operatorCommand } from './operator.ts';

export const showMetrics = operatorCommand(async ({ operator, io }) => {
  const text = await operator.read('/superadmin/metrics');
  await print(io.stdout, text.trimEnd());
});
