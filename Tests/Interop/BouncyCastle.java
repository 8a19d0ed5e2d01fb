import java.io.*;
import java.nio.file.*;
import java.security.*;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.*;
import java.util.*;
import javax.crypto.spec.*;
import org.bouncycastle.asn1.*;
import org.bouncycastle.asn1.pkcs.*;
import org.bouncycastle.asn1.x509.AlgorithmIdentifier;
import org.bouncycastle.cert.jcajce.*;
import org.bouncycastle.cms.*;
import org.bouncycastle.cms.jcajce.*;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.jcajce.JcaPEMKeyConverter;
import org.bouncycastle.operator.OutputEncryptor;
import org.bouncycastle.operator.jcajce.*;

/** Bouncy Castle at the other end of Tests/Interop/matrix: one job for each line of standard input, one answer for each job. */
class BouncyCastle {
    static final String BC = "BC";
    static final Map<String, String> CIPHERS = Map.ofEntries(
        Map.entry("aes-128-cbc", "2.16.840.1.101.3.4.1.2"), Map.entry("aes-192-cbc", "2.16.840.1.101.3.4.1.22"),
        Map.entry("aes-256-cbc", "2.16.840.1.101.3.4.1.42"), Map.entry("aes-128-gcm", "2.16.840.1.101.3.4.1.6"),
        Map.entry("aes-192-gcm", "2.16.840.1.101.3.4.1.26"), Map.entry("aes-256-gcm", "2.16.840.1.101.3.4.1.46"),
        Map.entry("aes-128-ccm", "2.16.840.1.101.3.4.1.7"), Map.entry("aes-192-ccm", "2.16.840.1.101.3.4.1.27"),
        Map.entry("aes-256-ccm", "2.16.840.1.101.3.4.1.47"), Map.entry("des-ede3-cbc", "1.2.840.113549.3.7"),
        Map.entry("chacha20-poly1305", "1.2.840.113549.1.9.16.3.18"));

    public static void main(String[] arguments) throws Exception {
        Security.addProvider(new BouncyCastleProvider());
        BufferedReader jobs = new BufferedReader(new InputStreamReader(System.in));
        for (String job; (job = jobs.readLine()) != null; ) {
            String[] words = job.split(" ");
            String answer = "ok";
            try {
                run(words);
            } catch (Throwable problem) {
                answer = "failed " + problem.toString().replace('\n', ' ');
            }
            System.out.println(words[0] + " " + answer);
        }
    }

    /** NAME sign KEY ALGORITHM IN OUT | verify KEY IN OUT | encrypt KEY SCHEME CIPHER IN OUT | decrypt KEY IN OUT | compress IN OUT | uncompress IN OUT */
    static void run(String[] words) throws Exception {
        byte[] input = Files.readAllBytes(Path.of(words[words.length - 2]));
        byte[] output = switch (words[1]) {
            case "sign" -> sign(words[2], words[3], input);
            case "verify" -> verify(words[2], input);
            case "encrypt" -> encrypt(words[2], words[3], words[4], input);
            case "decrypt" -> decrypt(words[2], input);
            case "compress" -> new CMSCompressedDataGenerator()
                .generate(new CMSProcessableByteArray(input), new ZlibCompressor()).getEncoded();
            case "uncompress" -> new CMSCompressedData(input).getContent(new ZlibExpanderProvider());
            default -> throw new IllegalArgumentException(words[1]);
        };
        Files.write(Path.of(words[words.length - 1]), output);
    }

    static X509Certificate certificate(String name) throws Exception {
        try (InputStream stream = new FileInputStream(name + ".pem")) {
            return (X509Certificate) CertificateFactory.getInstance("X.509", BC).generateCertificate(stream);
        }
    }

    static PrivateKey key(String name) throws Exception {
        try (PEMParser parser = new PEMParser(new FileReader(name + ".key"))) {
            return new JcaPEMKeyConverter().setProvider(BC).getPrivateKey((PrivateKeyInfo) parser.readObject());
        }
    }

    static byte[] sign(String name, String algorithm, byte[] input) throws Exception {
        CMSSignedDataGenerator generator = new CMSSignedDataGenerator();
        generator.addSignerInfoGenerator(new JcaSignerInfoGeneratorBuilder(
            new JcaDigestCalculatorProviderBuilder().setProvider(BC).build())
            .build(new JcaContentSignerBuilder(algorithm).setProvider(BC).build(key(name)), certificate(name)));
        generator.addCertificates(new JcaCertStore(List.of(certificate(name))));
        return generator.generate(new CMSProcessableByteArray(input), true).getEncoded();
    }

    static byte[] verify(String name, byte[] input) throws Exception {
        CMSSignedData signed = new CMSSignedData(input);
        int count = 0;
        for (SignerInformation signer : signed.getSignerInfos().getSigners()) {
            if (!signer.verify(new JcaSimpleSignerInfoVerifierBuilder().setProvider(BC).build(certificate(name))))
                throw new CMSException("the signature is not right");
            count++;
        }
        if (count == 0) throw new CMSException("no signer");
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        signed.getSignedContent().write(content);
        return content.toByteArray();
    }

    static RecipientInfoGenerator recipient(String name, String scheme) throws Exception {
        X509Certificate certificate = certificate(name);
        if (scheme.equals("rsa")) return new JceKeyTransRecipientInfoGenerator(certificate).setProvider(BC);
        if (scheme.startsWith("oaep-")) {
            String digest = scheme.substring(5).toUpperCase(Locale.ROOT).replace("SHA", "SHA-");
            AlgorithmIdentifier oaep = new JcaAlgorithmParametersConverter().getAlgorithmIdentifier(
                PKCSObjectIdentifiers.id_RSAES_OAEP,
                new OAEPParameterSpec(digest, "MGF1", new MGF1ParameterSpec(digest), PSource.PSpecified.DEFAULT));
            return new JceKeyTransRecipientInfoGenerator(certificate, oaep).setProvider(BC);
        }
        ASN1ObjectIdentifier agreement = switch (scheme) {
            case "ecdh-sha1" -> CMSAlgorithm.ECDH_SHA1KDF;
            case "ecdh-sha256" -> CMSAlgorithm.ECDH_SHA256KDF;
            case "ecdh-sha384" -> CMSAlgorithm.ECDH_SHA384KDF;
            case "ecdh-sha512" -> CMSAlgorithm.ECDH_SHA512KDF;
            case "hkdf-sha256" -> new ASN1ObjectIdentifier("1.2.840.113549.1.9.16.3.19");
            default -> throw new IllegalArgumentException(scheme);
        };
        KeyPairGenerator pairs = KeyPairGenerator.getInstance(certificate.getPublicKey().getAlgorithm(), BC);
        if (certificate.getPublicKey() instanceof java.security.interfaces.ECPublicKey curve) pairs.initialize(curve.getParams());
        KeyPair sender = pairs.generateKeyPair();
        return new JceKeyAgreeRecipientInfoGenerator(agreement, sender.getPrivate(), sender.getPublic(), CMSAlgorithm.AES256_WRAP)
            .setProvider(BC).addRecipient(certificate);
    }

    static byte[] encrypt(String name, String scheme, String cipher, byte[] input) throws Exception {
        OutputEncryptor encryptor = new JceCMSContentEncryptorBuilder(new ASN1ObjectIdentifier(CIPHERS.get(cipher)))
            .setProvider(BC).build();
        CMSTypedData content = new CMSProcessableByteArray(input);
        if (encryptor instanceof org.bouncycastle.operator.OutputAEADEncryptor authenticated) {
            CMSAuthEnvelopedDataGenerator generator = new CMSAuthEnvelopedDataGenerator();
            generator.addRecipientInfoGenerator(recipient(name, scheme));
            return generator.generate(content, authenticated).getEncoded();
        }
        if (!cipher.endsWith("cbc")) throw new CMSException("not as AuthEnvelopedData");
        CMSEnvelopedDataGenerator generator = new CMSEnvelopedDataGenerator();
        generator.addRecipientInfoGenerator(recipient(name, scheme));
        return generator.generate(content, encryptor).getEncoded();
    }

    static byte[] decrypt(String name, byte[] input) throws Exception {
        boolean isAuthenticated = contentType(input).equals("1.2.840.113549.1.9.16.1.23");
        RecipientInformationStore recipients = isAuthenticated
            ? new CMSAuthEnvelopedData(input).getRecipientInfos() : new CMSEnvelopedData(input).getRecipientInfos();
        RecipientInformation recipient = recipients.getRecipients().iterator().next();
        PrivateKey key = key(name);
        if (recipient instanceof KeyTransRecipientInformation)
            return recipient.getContent(isAuthenticated
                ? new JceKeyTransAuthEnvelopedRecipient(key).setProvider(BC)
                : new JceKeyTransEnvelopedRecipient(key).setProvider(BC));
        if (isAuthenticated) throw new CMSException("no key agreement in AuthEnvelopedData");
        return recipient.getContent(new JceKeyAgreeEnvelopedRecipient(key).setProvider(BC));
    }

    static String contentType(byte[] input) throws Exception {
        return org.bouncycastle.asn1.cms.ContentInfo.getInstance(ASN1Primitive.fromByteArray(input)).getContentType().getId();
    }
}
