export const browserProject = async (source: object) => ({ ...source, test: { name: 'browser', include: ['test/browser/*.none'] } })
