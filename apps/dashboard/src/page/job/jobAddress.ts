/** The question about a job: views of the same job share its answer. */
export const jobAddress = (id: string) => [`/v1/jobs/${encodeURIComponent(id)}`, { payload: 'preview' }] as const
