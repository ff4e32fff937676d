/** An audit as SARIF 2.1.0, which code hosts show beside the lines of the layout file. */
import type { AuditReport } from '../audit.ts'
import type { FileLocation } from '../file/document.ts'
import type { Finding, Property } from '../proof/findings.ts'
import { PROPERTIES } from '../proof/prove.ts'
import { STORIES } from '../stories.ts'

interface LocatedAudit {
  readonly file: string
  readonly report: AuditReport
  locate(path: string): FileLocation | undefined
}

export const sarifOf = (audits: readonly LocatedAudit[], version: string): object => ({
  $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
  version: '2.1.0',
  runs: [
    {
      tool: {
        driver: {
          name: 'keyspace',
          version,
          informationUri: 'https://github.com/quoin/quoin',
          rules: (Object.keys(PROPERTIES) as Property[]).map(property => ({
            id: property,
            shortDescription: { text: PROPERTIES[property] },
            fullDescription: { text: STORIES[property].meaning },
            defaultConfiguration: { level: 'error' }
          }))
        }
      },
      results: audits.flatMap(audit => audit.report.findings.map(finding => resultOf(finding, audit)))
    }
  ]
})

const resultOf = (finding: Finding, { file, report, locate }: LocatedAudit): object => {
  const remedies = (finding.remedies ?? []).filter(({ works }) => works).map(({ change }) => change)
  const text = `${finding.message}.${remedies.length > 0 ? ` Proved remedies: ${remedies.join('; ')}.` : ''}`
  return {
    ruleId: finding.property,
    level: 'error',
    message: { text },
    locations: finding.collections.map(name => {
      const at = report.collections.findIndex(each => each.name === name)
      const scan = finding.scanIndex === undefined ? '' : `.scans[${finding.scanIndex}]`
      const place = locate(`$.collections[${at}]${name === finding.collections[0] ? scan : ''}`)
      return {
        physicalLocation: {
          artifactLocation: { uri: encodeURI((place?.file || file).replaceAll('\\', '/')) },
          region: { startLine: place?.line ?? 1, startColumn: place?.column ?? 1 }
        },
        logicalLocations: [{ name, kind: 'object' }]
      }
    }),
    partialFingerprints: {
      finding: `${finding.property}/${finding.collections.join('/')}/${finding.scanIndex ?? finding.component ?? ''}`
    },
    properties: { witness: finding.witness, ...(finding.prefix !== undefined && { prefix: finding.prefix }) }
  }
}
