/** The export's form beside changes of other admins: it keeps what the user has typed, and reports that the saved settings are other ones. */
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import { Failure } from '../../api/failure.ts';
import { useAction } from '../../parts/action.ts';
import { bodyOf, CHECKS, type Export, type ExportValues, valuesOf, withoutSecret } from './export-values.ts';

const CHANGED = 'Nothing was saved: another admin changed the settings first. Save again to replace them.';

/** `saved`: the settings as they are now. `onSaved` gets the signing secret, if the server created one. */
export function useExportForm(saved: Export, onSaved: (view: Export) => void) {
  const { client } = useApi();
  const { id } = useAccount().active_org;
  const queries = useQueryClient();
  const queryKey = ['orgs', id, 'export'];
  const params = { path: { id } };
  /** Version of the settings that the form began with. */
  const [version, setVersion] = useState(saved.updated_at);
  const form = useForm<ExportValues>({ initialValues: valuesOf(saved), validate: CHECKS });
  const begin = (view: Export): void => {
    setVersion(view.updated_at);
    form.setInitialValues(valuesOf(view));
    form.reset();
  };
  const isOther = saved.updated_at !== version;
  const isDirty = form.isDirty();
  if (isOther && !isDirty) begin(saved);
  const save = useAction({
    run: async (values: ExportValues) => {
      const now = await answered(client.GET('/orgs/{id}/export', { params }));
      if (now.updated_at !== saved.updated_at) {
        queries.setQueryData(queryKey, now);
        throw new Failure({ status: 409, code: 'changed_meanwhile', message: CHANGED });
      }
      return answered(client.PUT('/orgs/{id}/export', { params, body: bodyOf(values) }));
    },
    touches: [queryKey],
    done: 'Export saved.',
    onDone: async (view) => {
      // A response that is older than this one must not look like another admin's change.
      await queries.cancelQueries({ queryKey });
      queries.setQueryData(queryKey, withoutSecret(view));
      begin(view);
      onSaved(view);
    },
    tellsFailure: true,
  });
  return { form, save, isOverwriting: isOther && isDirty, discard: () => begin(saved) };
}
