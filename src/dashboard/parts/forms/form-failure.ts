/** API errors of a request, assigned to the fields of its form; the rest is for the form's own alert. */
import { failureFrom } from '../../api/failure.ts';

interface FormLike {
  setFieldError(path: string, error: string): void;
  getValues(): object;
}

/**
 * Returns the message that no field of the form can show, or undefined. `fields`: the field of the form for a path of the API, where they are
 * called differently; of a list (`names.0`) the list's own counts too.
 */
export function showFaults(
  form: FormLike,
  error: unknown,
  fields: Readonly<Record<string, string>> = {},
): string | undefined {
  const failure = failureFrom(error);
  const values = form.getValues();
  let isAllShown = failure.faults.length > 0;
  for (const { path, message } of failure.faults) {
    const [head = path] = path.split('.');
    const field = [path, head].map((one) => fields[one] ?? one).find((one) => one in values);
    if (field === undefined) isAllShown = false;
    else form.setFieldError(field, message);
  }
  return isAllShown ? undefined : failure.message;
}
