/** Puts what the API says about a request's fields at the fields of the form; the rest is for the form's own alert. */
import { failureFrom } from '../api/failure.ts';

interface FormLike {
  setFieldError(path: string, error: string): void;
  getValues(): object;
}

/** Returns the message that no field of the form can show, or undefined. */
export function showFaults(form: FormLike, error: unknown): string | undefined {
  const failure = failureFrom(error);
  const values = form.getValues();
  const faults = failure.faults.map(({ path, message }) => ({ path: fieldOf(path, values), message }));
  const [shown, rest] = [faults.filter(({ path }) => path in values), faults.filter(({ path }) => !(path in values))];
  for (const { path, message } of shown) form.setFieldError(path, message);
  if (shown.length > 0 && rest.length === 0) return undefined;
  return failure.message;
}

/** An entry of a list, as `dns.0`, belongs to the field of the list where none is its own. */
function fieldOf(path: string, values: object): string {
  const [head = ''] = path.split('.');
  return path in values ? path : head;
}
